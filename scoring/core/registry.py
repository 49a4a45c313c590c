"""Every scorer type there is: a plain dict from its name to what people and programs need.

To add a type, write a config and a function `score(cases, config) -> list[Result]`, and list them
here. Packages and sites add types of their own through `custom`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.core.config import Config
from scoring.core.contract import Case, ConfigError, Result
from scoring.core.examples import EXAMPLES, Example
from scoring.core.scorers import (
    combine,
    expression,
    json_tree,
    judge,
    numeric,
    reference,
    schema,
    text,
)
from scoring.core.services import Available

Family = Literal["deterministic", "combinator", "custom", "embedding", "llm"]
ScoreMany = Callable[[Sequence[Case], Any], list[Result]]
Settle = Callable[[Any, Available], Config]
ASKING: Final = frozenset({"embedding", "llm"})  # families whose scorers ask `services`


@dataclass(frozen=True)
class ScorerType:
    """One way of scoring. `decimals` rounds the reported score; None leaves it as it comes.

    `settle` chooses, when a scorer is saved, what its config leaves open: equal configs then score
    alike whatever becomes available later. It raises ConfigError.
    """

    name: str
    label: str
    summary: str
    config: type[Config]
    score: ScoreMany
    default_threshold: float
    family: Family = "deterministic"
    version: int = 1  # raised when the same config may give other scores
    decimals: int | None = 9
    settle: Settle | None = None

    @property
    def path(self) -> str:
        """The dotted path of the scoring function."""
        return f"{self.score.__module__}.{self.score.__qualname__}"

    @property
    def examples(self) -> tuple[Example, ...]:
        """Worked examples; none for custom types."""
        return EXAMPLES.get(self.name, ())


_BUILT_IN: Final = (
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
    ScorerType(
        name="json_match",
        label="JSON match",
        summary="1.0 when output and expected are equal as JSON; key order is free.",
        config=json_tree.JsonMatchConfig,
        score=json_tree.json_match,
        default_threshold=1.0,
    ),
    ScorerType(
        name="json_similarity",
        label="JSON similarity",
        summary="The share of the expected JSON values that the output holds, with partial credit.",
        config=json_tree.JsonSimilarityConfig,
        score=json_tree.json_similarity,
        default_threshold=0.9,
    ),
    ScorerType(
        name="json_schema",
        label="JSON schema",
        summary="1.0 when the output is valid JSON and satisfies a schema.",
        config=schema.JsonSchemaConfig,
        score=schema.json_schema,
        default_threshold=1.0,
    ),
    ScorerType(
        name="numeric",
        label="Numeric closeness",
        summary="How close two numbers are, or whether they are within a tolerance.",
        config=numeric.NumericConfig,
        score=numeric.numeric,
        default_threshold=1.0,
    ),
    ScorerType(
        name="expression",
        label="Expression",
        summary="The result of a short CEL expression over the case.",
        config=expression.ExpressionConfig,
        score=expression.expression,
        default_threshold=0.5,
    ),
    ScorerType(
        name="reference_match",
        label="Reference match",
        summary="How close in meaning the output is to its references, by embeddings.",
        config=reference.ReferenceMatchConfig,
        score=reference.reference_match,
        default_threshold=0.7,
        family="embedding",
        decimals=reference.DECIMALS,
        settle=reference.settle,
    ),
    ScorerType(
        name="factuality",
        label="Factuality",
        summary="A model says how the facts of the output relate to those of the expected text.",
        config=judge.FactualityConfig,
        score=judge.factuality,
        default_threshold=0.5,
        family="llm",
        settle=judge.settle,
    ),
    ScorerType(
        name="llm_judge",
        label="LLM judge",
        summary="A model judges the output by a rubric of yours: a choice, or a number on a range.",
        config=judge.LlmJudgeConfig,
        score=judge.llm_judge,
        default_threshold=0.5,
        family="llm",
        settle=judge.settle,
    ),
    ScorerType(
        name="all",
        label="All of",
        summary="The lowest score of several scorers: everything must hold.",
        config=combine.CombineConfig,
        score=combine.all_of,
        default_threshold=0.5,
        family="combinator",
        settle=combine.settle,
    ),
    ScorerType(
        name="any",
        label="Any of",
        summary="The highest score of several scorers: one is enough.",
        config=combine.CombineConfig,
        score=combine.any_of,
        default_threshold=0.5,
        family="combinator",
        settle=combine.settle,
    ),
    ScorerType(
        name="weighted",
        label="Weighted mean",
        summary="The mean of several scorers, each by its weight.",
        config=combine.CombineConfig,
        score=combine.weighted,
        default_threshold=0.5,
        family="combinator",
        settle=combine.settle,
    ),
)

TYPES: Final[dict[str, ScorerType]] = {each.name: each for each in _BUILT_IN}
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def register(added: ScorerType) -> None:
    """Add a custom type. Raises ValueError for a bad name or one that is taken."""
    if not _NAME.fullmatch(added.name):
        raise ValueError(f"{added.name!r} is no name for a scorer type: use a-z, 0-9 and _")
    known = TYPES.get(added.name)
    if known is not None and known.path != added.path:
        raise ValueError(f"the name {added.name} is taken by {known.path}")
    TYPES[added.name] = added


def scorer_type(name: str) -> ScorerType:
    """The type of that name. Raises ConfigError, naming the known ones."""
    known = isinstance(name, str)  # it may come straight from JSON
    if not known or (found := TYPES.get(name) or all_types().get(name)) is None:
        names = ", ".join(sorted(TYPES))
        raise ConfigError({"type": [f"{name!r} is not a scorer type; known are {names}"]})
    return found


def all_types() -> Mapping[str, ScorerType]:
    """Built-in and custom types by name, in the order pages list them."""
    from scoring.core.custom import load_installed

    load_installed()
    return TYPES


def needs_services(chosen: ScorerType, config: Config) -> bool:
    """Whether scoring asks `services`, here or in any part of a combination."""
    if isinstance(config, combine.CombineConfig):
        parts = (child.scorer for child in config.children)
        return any(needs_services(part.type, part.config) for part in parts)
    return chosen.family in ASKING
