"""Several runs beside one baseline as a table: a row for each run, a column for each scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.engine.compare_warnings import Warned, gathered
from scoring.engine.figures import ScorerFigures

if TYPE_CHECKING:
    from evalsite.pages.compare import Candidate

MOST_COLUMNS: Final = 6


class Row(NamedTuple):
    """A run with its figures by column, None for a scorer that it does not share."""

    beside: Candidate
    cells: Sequence[ScorerFigures | None]


@dataclass(frozen=True)
class CompareTable:
    beside: Sequence[Candidate]

    @cached_property
    def names(self) -> list[str]:
        """Every scorer that the baseline shares with some run, in the runs' order."""
        found = (each.figures.scorers for each in self.beside if each.figures)
        return list(dict.fromkeys(scorer.name for scorers in found for scorer in scorers))

    @property
    def columns(self) -> list[str]:
        return self.names[:MOST_COLUMNS]

    @property
    def more(self) -> int:
        """How many scorers have no column."""
        return len(self.names) - len(self.columns)

    @property
    def width(self) -> int:
        """How many cells a row has behind the run's name."""
        return 5 + max(1, len(self.columns))

    @property
    def warned(self) -> list[Warned]:
        return gathered(
            [(each.run.name, each.figures.warnings if each.figures else ()) for each in self.beside]
        )

    def rows(self) -> list[Row]:
        return [Row(each, self._cells(each)) for each in self.beside]

    def _cells(self, each: Candidate) -> list[ScorerFigures | None]:
        scorers = each.figures.scorers if each.figures else ()
        found = {scorer.name: scorer for scorer in scorers}
        return [found.get(name) for name in self.columns]
