"""Every scorer type there is: a plain dict from its name to what people and programs need.

To add a type, write a config and a function `score(cases, config) -> list[Result]`, and list them
here. Packages and sites add types of their own through `custom`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from scoring.core.config import Config
from scoring.core.contract import Case, ConfigError, Json, Result
from scoring.core.scorers import text

Family = Literal["deterministic", "combinator", "custom", "embedding", "llm"]
ScoreMany = Callable[[Sequence[Case], Any], list[Result]]


class Example(NamedTuple):
    """One worked example: the help page shows it and the tests check it."""

    config: Mapping[str, Json]
    case: Case
    score: float | None  # None: an error or a skip, named by `code`
    note: str
    code: str = ""


@dataclass(frozen=True)
class ScorerType:
    """One way of scoring. `decimals` rounds the reported score; None leaves it as it comes."""

    name: str
    label: str
    summary: str
    config: type[Config]
    score: ScoreMany
    default_threshold: float
    family: Family = "deterministic"
    version: int = 1  # raised when the same config may give other scores
    decimals: int | None = 9
    examples: tuple[Example, ...] = ()

    @property
    def path(self) -> str:
        """The dotted path of the scoring function."""
        return f"{self.score.__module__}.{self.score.__qualname__}"


TYPES: Final[dict[str, ScorerType]] = {
    scorer_type.name: scorer_type
    for scorer_type in (
        ScorerType(
            name="exact_match",
            label="Exact match",
            summary="1.0 when the output's text equals the expected text, else 0.0.",
            config=text.ExactMatchConfig,
            score=text.exact_match,
            default_threshold=1.0,
        ),
        ScorerType(
            name="includes",
            label="Includes",
            summary="1.0 when the expected text, or a list of values, is inside the output.",
            config=text.IncludesConfig,
            score=text.includes,
            default_threshold=1.0,
        ),
        ScorerType(
            name="regex",
            label="Regular expression",
            summary="1.0 when a JavaScript pattern is found anywhere in the output.",
            config=text.RegexConfig,
            score=text.regex,
            default_threshold=1.0,
        ),
        ScorerType(
            name="levenshtein",
            label="Levenshtein similarity",
            summary="1 - edit distance / longer length: how much of the text is the same.",
            config=text.LevenshteinConfig,
            score=text.levenshtein,
            default_threshold=0.7,
            decimals=None,  # it rounds exactly, as its config says
        ),
    )
}


def scorer_type(name: str) -> ScorerType:
    """The type of that name. Raises ConfigError, naming the known ones."""
    known = all_types()
    if name not in known:
        names = ", ".join(sorted(known))
        raise ConfigError({"type": [f"{name!r} is not a scorer type; known are {names}"]})
    return known[name]


def all_types() -> Mapping[str, ScorerType]:
    """Built-in and custom types by name, in the order pages list them."""
    return TYPES
