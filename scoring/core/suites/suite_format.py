"""A suite as JSON or YAML: a name, and scorers with type, config and threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from scoring.core.config_diff import drop_defaults
from scoring.core.configured import configure_scorer
from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.json_text import check_value, parse
from scoring.core.names import NOT_ONE_LINE, is_one_line
from scoring.core.suites.yaml_text import parse_yaml, write_yaml

MAX_CHARS: Final = 500_000
MAX_SCORERS: Final = 200
MAX_NAME: Final = 120
_KEYS: Final = {"name", "type", "config", "threshold"}

SuiteFormat = Literal["json", "yaml"]


@dataclass(frozen=True)
class DescribedScorer:
    """One scorer; without a threshold it keeps the stored one, or takes its type's."""

    name: str
    type: str
    config: Mapping[str, Json]
    threshold: float | None = None


@dataclass(frozen=True)
class SuiteDocument:
    """A suite as a text describes it. The names in it differ."""

    name: str
    scorers: tuple[DescribedScorer, ...]

    def renamed(self, name: str, names: Mapping[int, str]) -> SuiteDocument:
        """The suite under another name, its scorers under `names` by their index; "" is no name.

        Raises ConfigError where two scorers would then have one name.
        """
        scorers = tuple(
            replace(scorer, name=_name(f"scorers[{index}].name", names.get(index) or scorer.name))
            for index, scorer in enumerate(self.scorers)
        )
        _refuse_repeated_names(scorers)
        return SuiteDocument(_name("name", name or self.name), scorers)


def detect_suite_format(file_name: str, text: str) -> SuiteFormat:
    """By the ending of the file's name, else by how the text begins."""
    if file_name.endswith((".yaml", ".yml")):
        return "yaml"
    is_json = file_name.endswith(".json") or text.lstrip()[:1] in ("{", "[")
    return "json" if is_json else "yaml"


def read_suite(
    text: str, *, spelling: SuiteFormat, name: str = "", where: str = "it"
) -> SuiteDocument:
    """The suite that a text describes, every scorer of it checked.

    Without a name of its own it is called `name`. Raises ConfigError, naming each bad field;
    `where` is what the text is called there.
    """
    if len(text) > MAX_CHARS:
        raise _problem(f"{where} is longer than {MAX_CHARS:,} characters")
    try:
        content = parse(text) if spelling == "json" else parse_yaml(text)
        check_value(content, refuse_nul=True)
    except CaseProblem as fault:
        raise _problem(f"{where} cannot be read as {spelling.upper()}: {fault}") from None
    items = content.get("scorers") if isinstance(content, dict) else None
    if not isinstance(items, list) or not items:
        raise _problem(f'{where} needs a list "scorers" with at least one scorer')
    if len(items) > MAX_SCORERS:
        raise _problem(f"{where} has more than {MAX_SCORERS} scorers")
    if unknown := content.keys() - {"name", "scorers"}:
        raise ConfigError({key: ["is not known in a suite file"] for key in sorted(unknown)})
    scorers = tuple(_read_scorer(index, item) for index, item in enumerate(items))
    _refuse_repeated_names(scorers)
    return SuiteDocument(_name("name", content.get("name") or name or "suite"), scorers)


def write_suite(suite: SuiteDocument, spelling: SuiteFormat) -> str:
    """The text that `read_suite` reads, without settings that hold their defaults."""
    content = {"name": suite.name, "scorers": list(map(_scorer_fields, suite.scorers))}
    if spelling == "yaml":
        return write_yaml(content)
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _scorer_fields(scorer: DescribedScorer) -> dict[str, Json]:
    whole: dict[str, Json] = {"name": scorer.name, "type": scorer.type}
    if scorer.threshold is not None:
        whole["threshold"] = scorer.threshold
    config = drop_defaults(scorer.type, scorer.config)
    return whole | {"config": config} if config else whole


def _read_scorer(index: int, item: Any) -> DescribedScorer:
    field = f"scorers[{index}]"
    if not isinstance(item, dict) or "type" not in item or item.keys() - _KEYS:
        raise ConfigError({field: ['needs a "type", and may have a name, config and threshold']})
    kind, threshold = str(item["type"]), item.get("threshold")
    config = {} if item.get("config") is None else item["config"]
    try:
        configure_scorer(kind, config, threshold)
    except ConfigError as fault:
        raise ConfigError({f"{field}.{key}": text for key, text in fault.errors.items()}) from None
    settings = dict(config)
    own_threshold = settings.pop("threshold", None)
    threshold = own_threshold if threshold is None else threshold
    name = _name(f"{field}.name", item.get("name") or kind)
    return DescribedScorer(name, kind, settings, None if threshold is None else float(threshold))


def _refuse_repeated_names(scorers: Sequence[DescribedScorer]) -> None:
    names = [scorer.name for scorer in scorers]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError({f"scorers[{index}].name": [f"two scorers are called {name!r}"]})


def _name(field: str, value: Json) -> str:
    name = str(value).strip()[:MAX_NAME]
    if not is_one_line(name):
        raise ConfigError({field: [NOT_ONE_LINE]})
    return name


def _problem(text: str) -> ConfigError:
    return ConfigError({"suite": [text]})
