"""Several runs compared with one baseline: a row for each run, a column for each scorer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from evalsite.pages.compare.candidates import Candidate
from scoring.engine.compare.figures import ScorerFigures
from scoring.engine.compare.warnings import RunWarning, collect_warnings

MAX_COLUMNS: Final = 6


class CandidateRow(NamedTuple):
    """A run with its figures by column; None for a scorer that it does not share."""

    candidate: Candidate
    cells: Sequence[ScorerFigures | None]


@dataclass(frozen=True)
class CompareTable:
    candidates: Sequence[Candidate]

    @cached_property
    def names(self) -> list[str]:
        """Every scorer that the baseline shares with some run, in the runs' order."""
        figures = [candidate.figures for candidate in self.candidates if candidate.figures]
        return list(dict.fromkeys(scorer.name for found in figures for scorer in found.scorers))

    @property
    def columns(self) -> list[str]:
        return self.names[:MAX_COLUMNS]

    @property
    def more(self) -> int:
        """How many scorers have no column."""
        return len(self.names) - len(self.columns)

    @property
    def width(self) -> int:
        """The number of cells after the run's name."""
        return 5 + max(1, len(self.columns))

    @property
    def warned(self) -> list[RunWarning]:
        figures = ((candidate.run.name, candidate.figures) for candidate in self.candidates)
        return collect_warnings([(name, each.warnings if each else ()) for name, each in figures])

    def rows(self) -> Iterator[CandidateRow]:
        for candidate in self.candidates:
            scorers = candidate.figures.scorers if candidate.figures else ()
            by_name = {scorer.name: scorer for scorer in scorers}
            yield CandidateRow(candidate, [by_name.get(name) for name in self.columns])
