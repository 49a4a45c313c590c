"""The scales of judges: the possible answers and their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.core.contract import Json
from scoring.core.json_text import to_text

MINUS: Final = "\N{MINUS SIGN}"
REASONS: Final = {"type": "string", "description": "Why, in one to three sentences."}


@dataclass(frozen=True)
class Choices:
    """One of several labels, each with its score."""

    scores: Mapping[str, float]
    key = "choice"

    def schema(self) -> dict[str, Json]:
        return _schema("choice", {"type": "string", "enum": list(self.scores)})

    def ask(self) -> str:
        labels = ", ".join(f'"{label}"' for label in self.scores)
        return f'{{"reasons": "<why, in one to three sentences>", "choice": <one of {labels}>}}'

    def score(self, value: str | float) -> float:
        return self.scores[str(value)]

    def knows(self, value: Json) -> bool:
        return isinstance(value, str) and value in self.scores

    def words(self) -> str:
        return ", ".join(f"{label} {to_text(score)}" for label, score in self.scores.items())

    def arithmetic(self, _: str | float) -> str:
        """A choice is no arithmetic: its score is stated."""
        return ""


@dataclass(frozen=True)
class Range:
    """A number from `low` to `high`, mapped to 0..1."""

    low: float
    high: float
    key = "number"

    def schema(self) -> dict[str, Json]:
        return _schema("number", {"type": "number", "minimum": self.low, "maximum": self.high})

    def ask(self) -> str:
        span = f"<a number from {to_text(self.low)} to {to_text(self.high)}>"
        return f'{{"reasons": "<why, in one to three sentences>", "number": {span}}}'

    def score(self, value: str | float) -> float:
        return min(1.0, max(0.0, (float(value) - self.low) / (self.high - self.low)))

    def knows(self, value: Json) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def words(self) -> str:
        return f"{to_text(self.low)} to {to_text(self.high)}, mapped to 0 to 1"

    def arithmetic(self, value: str | float) -> str:
        """How an answer becomes its score, as people read it."""
        low, high = to_text(self.low), to_text(self.high)
        return f"({to_text(value)} {MINUS} {low}) / ({high} {MINUS} {low})"

    def number(self, score: float) -> float:
        """The number a score stands for, without float noise."""
        return round(self.low + score * (self.high - self.low), 9)


Scale = Choices | Range


def _schema(key: str, value: dict[str, Json]) -> dict[str, Json]:
    """Reasons come first: a model that has given them judges better than one that has not."""
    return {
        "type": "object",
        "properties": {"reasons": REASONS, key: value},
        "required": ["reasons", key],
        "additionalProperties": False,
    }
