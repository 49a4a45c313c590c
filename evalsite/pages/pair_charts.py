"""The charts of one scorer in two runs, with the addresses that their marks lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalsite.pages.pair_list import PairList
from scoring.core.compare_chart import Dot, Scatter, Step, Steps, scatter, steps
from scoring.engine.figures import GRID, Cell, ScorerFigures
from scoring.models.case_table import Place


class Switch(NamedTuple):
    """A scorer whose charts can be shown."""

    name: str
    url: str
    is_here: bool


@dataclass
class PairCharts:
    """The scatter and the histogram of the scorer asked for, else of the first."""

    scorers: Sequence[ScorerFigures]
    cases: PairList
    asked: str

    @cached_property
    def scorer(self) -> ScorerFigures | None:
        with_scores = [scorer for scorer in self.scorers if scorer.n]
        named = [scorer for scorer in with_scores if scorer.name == self.asked]
        return next(iter(named or with_scores), None)

    def switches(self) -> Iterator[Switch]:
        for scorer in self.scorers:
            url = self.cases.changed(chart=scorer.name)
            yield Switch(scorer.name, f"{url}#charts", scorer == self.scorer)

    @cached_property
    def scatter(self) -> Scatter | None:
        if self.scorer is None:
            return None
        cells = [(cell.x, cell.y, cell.cases) for cell in self.scorer.scatter]
        return scatter(cells, GRID, self.scorer.thresholds)

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
    def steps(self) -> Steps | None:
        return steps(self.scorer.histogram) if self.scorer else None

    @cached_property
    def bars(self) -> list[tuple[Step, str]]:
        """Each bar that stands for any case, with the address of the list of its cases."""
        if self.steps is None or self.scorer is None:
            return []
        return [
            (bar, self.cases.ranged(self.scorer.name, change=bar.change))
            for bar in self.steps.bars
            if bar.cases
        ]

    def _dot_url(self, dot: Dot, cell: Cell, scorer: str) -> str:
        if dot.cases == 1:
            return self.cases.place_url(Place(cell.position, cell.trial))
        return self.cases.ranged(scorer, was=dot.before, now=dot.after)
