"""Three answers that help pages show every type by, so that the types can be told apart."""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.core.config import config_fields
from scoring.core.contract import Case
from scoring.core.registry import ScorerType, built_in_types
from scoring.core.scorers.selection import ExtractingConfig


class SharedExample(NamedTuple):
    """A case, and the `extract` setting that finds the answer in its output."""

    title: str
    case: Case
    extract: str | dict[str, str]


SHARED_EXAMPLES: Final = (
    SharedExample(
        "An answer in a sentence",
        Case("The capital of France is Paris.", "Paris", input="What is the capital of France?"),
        {"pattern": r"is (\w+)"},
    ),
    SharedExample(
        "A number after its working",
        Case("9 eggs at $2 each are 9 * 2 = 18.\nA: 18", 18, input="What does she earn?"),
        "last_number",
    ),
    SharedExample(
        "JSON in a fenced block",
        Case(
            'Here you are:\n```json\n{"city": "Paris", "nights": 3}\n```',
            {"city": "Paris", "nights": 2},
            input="Read the booking.",
        ),
        "json",
    ),
)


def comparable_types() -> list[ScorerType]:
    """The types that score these examples with their default settings, and ask no model."""
    return [
        kind
        for kind in built_in_types().values()
        if kind.family == "deterministic"
        and issubclass(kind.config, ExtractingConfig)
        and not any(spec.required for spec in config_fields(kind.config))
    ]
