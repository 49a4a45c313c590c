"""The options of a command that tell how outputs are to be made."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from scoring.engine.generate import Recipe
from scoring.engine.recipe import check
from scoring.models import Connection, Team

OPTIONS: Final = ("prompt", "connection", "trials")


def add_recipe_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("--generate", metavar="MODEL", help="make the outputs by calling this model")
    add("--prompt", metavar="FILE|TEXT", help="with places such as {{ input }}")
    add("--connection", metavar="NAME", help="the team's default one unless given")
    add("--trials", type=int, metavar="N", help="outputs a case, 1 unless given")


def check_recipe_options(options: dict[str, Any]) -> None:
    """Refuse what does not go together, before anything is looked up. Raises CommandError."""
    if not options["generate"]:
        given = next((name for name in OPTIONS if options[name] is not None), None)
        if given:
            raise _misuse(f"--{given} needs --generate MODEL: it tells how to make outputs")
        return
    if options["outputs"]:
        raise _misuse("--generate makes the outputs and --outputs loads them; give one of the two")
    if options["prompt"] is None:
        raise _misuse("--generate needs --prompt FILE or --prompt 'Answer: {{ input }}'")


def recipe_of(team: Team, options: dict[str, Any]) -> Recipe:
    """Raises CommandError, or ConfigError for a recipe that cannot be used."""
    recipe = Recipe(
        model=options["generate"],
        template=_prompt(options["prompt"]),
        connection=_connection(team, options["connection"]),
        trials=1 if options["trials"] is None else options["trials"],
    )
    check(recipe)
    return recipe


def _prompt(given: str) -> str:
    """The text of the file of that name, else the text itself."""
    try:
        if Path(given).is_file():
            return Path(given).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _misuse(f"{given} is not UTF-8; save it as UTF-8") from None
    except OSError as fault:
        if "{{" not in given:  # a long prompt is no possible name of a file either
            raise _misuse(f"{given} cannot be read: {fault.strerror}") from None
    if "{{" not in given:
        raise _misuse(
            f"{given!r} is neither a file nor a prompt with a place such as {{{{ input }}}}"
        )
    return given


def _connection(team: Team, name: str | None) -> Connection | None:
    if name is None:
        return None
    connections = {each.name: each for each in Connection.objects.filter(team=team).for_list()}
    if name not in connections:
        known = ", ".join(connections) or "none yet"
        raise _misuse(f"the team {team.slug} has no connection {name!r}; it has: {known}")
    return connections[name]


def _misuse(text: str) -> CommandError:
    return CommandError(text, returncode=2)
