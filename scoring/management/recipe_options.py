"""The options of a command for generating outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandParser

from scoring.engine.outputs.generation import OutputRecipe
from scoring.engine.outputs.output_recipe import check_recipe
from scoring.management.console import usage_error
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
        for name in OPTIONS:
            if options[name] is not None:
                raise usage_error(f"--{name} needs --generate MODEL: it tells how to make outputs")
        return
    if options["outputs"]:
        text = "--generate makes the outputs and --outputs loads them; give one of the two"
        raise usage_error(text)
    if options["prompt"] is None:
        raise usage_error("--generate needs --prompt FILE or --prompt 'Answer: {{ input }}'")


def read_recipe(team: Team, options: dict[str, Any]) -> OutputRecipe:
    """Raises CommandError, or ConfigError for a recipe that cannot be used."""
    recipe = OutputRecipe(
        model=options["generate"],
        template=_prompt(options["prompt"]),
        connection=_connection(team, options["connection"]),
        trials=1 if options["trials"] is None else options["trials"],
    )
    check_recipe(recipe)
    return recipe


def _prompt(text: str) -> str:
    """The text of the file of that name, else the text itself."""
    try:
        if Path(text).is_file():
            return Path(text).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise usage_error(f"{text} is not UTF-8; save it as UTF-8") from None
    except OSError as fault:
        if "{{" not in text:  # a long prompt is no possible name of a file either
            raise usage_error(f"{text} cannot be read: {fault.strerror}") from None
    if "{{" not in text:
        problem = f"{text!r} is neither a file nor a prompt with a place such as {{{{ input }}}}"
        raise usage_error(problem)
    return text


def _connection(team: Team, name: str | None) -> Connection | None:
    if name is None:
        return None
    known = Connection.objects.filter(team=team).for_list()
    connections = {connection.name: connection for connection in known}
    if name not in connections:
        names = ", ".join(connections) or "none yet"
        raise usage_error(f"the team {team.slug} has no connection {name!r}; it has: {names}")
    return connections[name]
