"""The columns of a run's case table: those in the address, else the default ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from scoring.models import RunScorer

NAME: Final = "col"  # in addresses, once for each column
SCORER: Final = "scorer:"  # before the name of a scorer that has a column
MAX_SCORERS: Final = 6  # with a column by default
FACTS: Final = {
    "output": "Output",
    "tags": "Tags",
    "change": "Since",
    "reviews": "Reviews",
    "latency": "Latency",
    "tokens": "Tokens",
    "cost": "Cost",
}
DEFAULT: Final = ("output", "tags", "change")


class ColumnChoice(NamedTuple):
    """A column that the table can have, and whether it has it."""

    value: str
    text: str
    is_shown: bool


@dataclass(frozen=True)
class Columns:
    """The columns that the address names, else the default ones.

    `needed` scorers, which are filtered or sorted by, always have one among the default ones;
    `has_baseline` tells whether the table is compared with another run.
    """

    scorers: Sequence[RunScorer]
    named: Sequence[str]
    needed: Collection[RunScorer | None] = ()
    has_baseline: bool = False

    @cached_property
    def selected(self) -> frozenset[str]:
        named = frozenset(self.named) & self._offered.keys()
        return named or frozenset((*DEFAULT, *self._default_scorers())) & self._offered.keys()

    def __contains__(self, name: str) -> bool:
        return name in self.selected

    @cached_property
    def scorer_indexes(self) -> list[int]:
        """The indexes of the scorers that have a column."""
        return [n for n, scorer in enumerate(self.scorers) if f"{SCORER}{scorer}" in self.selected]

    @property
    def are_default(self) -> bool:
        return not frozenset(self.named) & self._offered.keys()

    def choices(self) -> list[ColumnChoice]:
        return [ColumnChoice(name, text, name in self) for name, text in self._offered.items()]

    @cached_property
    def _offered(self) -> dict[str, str]:
        facts = {n: text for n, text in FACTS.items() if n != "change" or self.has_baseline}
        return facts | {f"{SCORER}{scorer}": scorer.name for scorer in self.scorers}

    def _default_scorers(self) -> list[str]:
        scorers = [scorer for scorer in self.scorers if scorer in self.needed]
        others = [scorer for scorer in self.scorers if scorer not in self.needed]
        scorers += others[: max(0, MAX_SCORERS - len(scorers))]
        return [f"{SCORER}{scorer}" for scorer in scorers]
