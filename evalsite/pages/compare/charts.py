"""The charts of one scorer in two runs, with the addresses that their marks link to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalsite.pages.compare.pair_list import PairList
from scoring.core.charts.comparison_charts import (
    ChangeBar,
    ChangeHistogram,
    Dot,
    Scatter,
    change_histogram,
    scatter_chart,
)
from scoring.engine.compare.excluded_cases import (
    NOTHING_EXCLUDED,
    ExcludedCounts,
    count_excluded,
    exclude_cases,
)
from scoring.engine.compare.figures import GRID, Cell, ScorerFigures
from scoring.models.case_paging import CasePosition


class ScorerChoice(NamedTuple):
    """A scorer whose charts can be shown."""

    name: str
    url: str
    is_here: bool


@dataclass
class PairCharts:
    """The scatter plot and the histogram of the chosen scorer, else of the first.

    Cases that the reader is yet to review are in neither: a mark that leads nowhere would tell
    their scores.
    """

    scorers: Sequence[ScorerFigures]
    cases: PairList
    chosen: str

    @cached_property
    def _whole(self) -> ScorerFigures | None:
        """The scorer with all cases."""
        with_scores = [scorer for scorer in self.scorers if scorer.n]
        named = [scorer for scorer in with_scores if scorer.name == self.chosen]
        return next(iter(named or with_scores), None)

    @cached_property
    def scorer(self) -> ScorerFigures | None:
        """The scorer without the cases that are left out."""
        return self._whole and exclude_cases(self._whole, self._left_out)

    @property
    def left_out(self) -> int:
        """How many cases are in no chart."""
        return self._left_out.number

    @cached_property
    def _left_out(self) -> ExcludedCounts:
        if self._whole is None:
            return NOTHING_EXCLUDED
        runs = self.cases.baseline, self.cases.candidate
        return count_excluded(*runs, self._whole.name, self.cases.without)

    def scorer_choices(self) -> Iterator[ScorerChoice]:
        for scorer in self.scorers:
            url = self.cases.changed(chart=scorer.name)
            yield ScorerChoice(scorer.name, f"{url}#charts", scorer == self._whole)

    @cached_property
    def scatter(self) -> Scatter | None:
        if self.scorer is None:
            return None
        cells = [(cell.x, cell.y, cell.cases) for cell in self.scorer.scatter]
        return scatter_chart(cells, GRID, self.scorer.thresholds)

    @cached_property
    def dots(self) -> list[tuple[Dot, str]]:
        """Each dot with the address of its case, or of the list of its cases."""
        if self.scatter is None or self.scorer is None:
            return []
        return [
            (dot, self._dot_url(dot, cell, self.scorer.name))
            for dot, cell in zip(self.scatter.dots, self.scorer.scatter, strict=True)
        ]

    @cached_property
    def steps(self) -> ChangeHistogram | None:
        return change_histogram(self.scorer.histogram) if self.scorer else None

    @cached_property
    def bars(self) -> list[tuple[ChangeBar, str]]:
        """Each bar that stands for any case, with the address of the list of its cases."""
        if self.steps is None or self.scorer is None:
            return []
        return [
            (bar, self.cases.range_url(self.scorer.name, change=bar.change))
            for bar in self.steps.bars
            if bar.cases
        ]

    def _dot_url(self, dot: Dot, cell: Cell, scorer: str) -> str:
        if dot.cases == 1:
            place = CasePosition(cell.position, cell.trial)
            if place not in self.cases.places_without:
                return self.cases.pair_url(place)
        return self.cases.range_url(scorer, was=dot.before, now=dot.after)
