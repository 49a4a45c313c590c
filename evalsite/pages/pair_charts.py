"""The charts of one scorer in two runs, with the addresses that their marks lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalsite.pages.pair_list import PairList
from scoring.core.compare_chart import Dot, Scatter, Steps, scatter, steps
from scoring.engine.figures import GRID, ScorerFigures
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
        """Each dot with the address of its first case."""
        if self.scatter is None or self.scorer is None:
            return []
        cells = self.scorer.scatter
        return [
            (dot, self.cases.place_url(Place(cells[dot.place].position, cells[dot.place].trial)))
            for dot in self.scatter.dots
        ]

    @cached_property
    def steps(self) -> Steps | None:
        return steps(self.scorer.histogram) if self.scorer else None
