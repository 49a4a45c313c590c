"""A suite as one text, JSON or YAML: a name, and scorers with type, config and threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from scoring.core.bound import bind, read_threshold
from scoring.core.config_changes import shortened
from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.json_text import check, parse
from scoring.core.yaml_text import parse_yaml, write_yaml

MAX_CHARS: Final = 500_000
MAX_SCORERS: Final = 200
MAX_NAME: Final = 120
_KEYS: Final = {"name", "type", "config", "threshold"}

Spelling = Literal["json", "yaml"]


@dataclass(frozen=True)
class Described:
    """One scorer; without a threshold it takes what is there, or its type's."""

    name: str
    type: str
    config: Mapping[str, Json]
    threshold: float | None = None


@dataclass(frozen=True)
class SuiteText:
    """A suite as a text describes it. The names in it differ."""

    name: str
    scorers: tuple[Described, ...]

    def renamed(self, name: str, names: Mapping[int, str]) -> SuiteText:
        """Under another name, the scorers at these places under others too; "" changes nothing.

        Raises ConfigError where two scorers would then have one name.
        """
        scorers = tuple(
            replace(each, name=_short(names.get(place) or each.name))
            for place, each in enumerate(self.scorers)
        )
        _refuse_twins(scorers)
        return SuiteText(_short(name or self.name), scorers)


def spelling_of(file_name: str, text: str) -> Spelling:
    """By the ending of the file's name, else by how the text begins."""
    if file_name.endswith((".yaml", ".yml")):
        return "yaml"
    is_json = file_name.endswith(".json") or text.lstrip()[:1] in ("{", "[")
    return "json" if is_json else "yaml"


def read_suite(text: str, *, spelling: Spelling, name: str = "", where: str = "it") -> SuiteText:
    """The suite that a text describes, every scorer of it checked.

    Without a name of its own it is called `name`. Raises ConfigError, naming each bad field;
    `where` is what the text is called there.
    """
    if len(text) > MAX_CHARS:
        raise _refused(f"{where} is longer than {MAX_CHARS:,} characters")
    try:
        content = parse(text) if spelling == "json" else parse_yaml(text)
        check(content, refuse_nul=True)
    except CaseProblem as fault:
        raise _refused(f"{where} cannot be read as {spelling.upper()}: {fault}") from None
    listed = content.get("scorers") if isinstance(content, dict) else None
    if not isinstance(listed, list) or not listed:
        raise _refused(f'{where} needs a list "scorers" with at least one scorer')
    if len(listed) > MAX_SCORERS:
        raise _refused(f"{where} has more than {MAX_SCORERS} scorers")
    if unknown := content.keys() - {"name", "scorers"}:
        raise ConfigError({key: ["is not known in a suite file"] for key in sorted(unknown)})
    scorers = tuple(_described(place, each) for place, each in enumerate(listed))
    _refuse_twins(scorers)
    return SuiteText(_short(str(content.get("name") or name or "suite")), scorers)


def write_suite(suite: SuiteText, spelling: Spelling) -> str:
    """The text that `read_suite` reads; settings at their defaults are left out where a saved
    config has them all, so that one that is read and saved is the same to the letter.
    """
    content = {"name": suite.name, "scorers": [_written(each) for each in suite.scorers]}
    if spelling == "yaml":
        return write_yaml(content)
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _written(scorer: Described) -> dict[str, Json]:
    whole: dict[str, Json] = {"name": scorer.name, "type": scorer.type}
    if scorer.threshold is not None:
        whole["threshold"] = scorer.threshold
    config = shortened(scorer.type, scorer.config)
    return whole | {"config": config} if config else whole


def _described(place: int, given: Any) -> Described:
    field = f"scorers[{place}]"
    if not isinstance(given, dict) or "type" not in given or given.keys() - _KEYS:
        raise ConfigError({field: ['needs a "type", and may have a name, config and threshold']})
    kind, threshold = str(given["type"]), given.get("threshold")
    config = {} if given.get("config") is None else given["config"]
    try:
        bind(kind, config, threshold)
        pasted = config.get("threshold")
        own = {key: value for key, value in config.items() if key != "threshold"}
        holds = pasted if threshold is None else threshold
        known = None if holds is None else read_threshold(holds)
        return Described(_short(str(given.get("name") or kind)), kind, own, known)
    except ConfigError as fault:
        texts = {f"{field}.{key}": found for key, found in fault.errors.items()}
        raise ConfigError(texts) from None


def _refuse_twins(scorers: Sequence[Described]) -> None:
    names = [each.name for each in scorers]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError({f"scorers[{place}].name": [f"two scorers are called {name!r}"]})


def _short(name: str) -> str:
    return name.strip()[:MAX_NAME]


def _refused(text: str) -> ConfigError:
    return ConfigError({"suite": [text]})
