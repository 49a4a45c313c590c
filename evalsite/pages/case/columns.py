"""Which columns a run's case table has: those that the address names, else the usual ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from scoring.models import RunScorer

NAME: Final = "col"  # in addresses, once for each column
SCORER: Final = "scorer:"  # before the name of a scorer that has a column
MAX_SCORERS: Final = 6  # with a column unless others are asked for
FACTS: Final = {
    "output": "Output",
    "tags": "Tags",
    "change": "Since",
    "reviews": "Reviews",
    "latency": "Latency",
    "tokens": "Tokens",
    "cost": "Cost",
}
USUAL: Final = ("output", "tags", "change")


class Choice(NamedTuple):
    """A column that the table can have, and whether it has it."""

    value: str
    text: str
    is_shown: bool


@dataclass(frozen=True)
class Columns:
    """The columns asked for, of those there are.

    `needed` scorers, which are filtered or sorted by, always have one among the usual ones;
    `is_beside` tells whether the table is laid beside another run.
    """

    scorers: Sequence[RunScorer]
    asked: Sequence[str]
    needed: Collection[RunScorer | None] = ()
    is_beside: bool = False

    @cached_property
    def shown(self) -> frozenset[str]:
        asked = frozenset(self.asked) & self._offered.keys()
        return asked or frozenset((*USUAL, *self._usual_scorers())) & self._offered.keys()

    def __contains__(self, name: str) -> bool:
        return name in self.shown

    @cached_property
    def places(self) -> list[int]:
        """The places of the scorers that have a column, in the run's order."""
        return [
            place for place, scorer in enumerate(self.scorers) if f"{SCORER}{scorer}" in self.shown
        ]

    @property
    def is_usual(self) -> bool:
        """Whether nobody asked for other ones."""
        return not frozenset(self.asked) & self._offered.keys()

    def choices(self) -> list[Choice]:
        return [Choice(name, text, name in self) for name, text in self._offered.items()]

    @cached_property
    def _offered(self) -> dict[str, str]:
        facts = {n: text for n, text in FACTS.items() if n != "change" or self.is_beside}
        return facts | {f"{SCORER}{scorer}": scorer.name for scorer in self.scorers}

    def _usual_scorers(self) -> list[str]:
        named = [scorer for scorer in self.scorers if scorer in self.needed]
        others = [scorer for scorer in self.scorers if scorer not in self.needed]
        found = named + others[: max(0, MAX_SCORERS - len(named))]
        return [f"{SCORER}{scorer}" for scorer in found]
