"""Each scorer's figures over a run, ready to be set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from evalsite.templatetags.look import count, plain
from scoring.core.charts import Bar, Histogram, histogram_chart
from scoring.core.stats import Estimate, rate_estimate
from scoring.engine.judge_quality import is_judge
from scoring.models import RunScorer, RunSummary


class Cause(NamedTuple):
    """Why outputs were not scored, how many, and the query that shows them."""

    code: str
    number: int
    query: str


class LinkedBar(NamedTuple):
    """A bar of the histogram, its bin in words, and the query that shows its cases."""

    bar: Bar
    title: str
    query: str


@dataclass(frozen=True)
class Figure:
    """One scorer's figures; without a summary, while the run is going, there are none."""

    scorer: RunScorer
    summary: RunSummary | None

    @property
    def decimals(self) -> int:
        """As many as show the mean's interval as one: many cases make it narrow."""
        mean = self.summary.mean_estimate if self.summary else None
        if mean is None or mean.interval is None or mean.interval[0] == mean.interval[1]:
            return 2
        width = mean.interval[1] - mean.interval[0]
        return next((places for places in (2, 3, 4) if width >= 10**-places), 5)

    @property
    def is_judge(self) -> bool:
        return is_judge(self.scorer)

    @property
    def pass_rate(self) -> Estimate | None:
        return rate_estimate(self.summary.passed, self.summary.scored) if self.summary else None

    def causes(self) -> Iterator[Cause]:
        """The codes of errors and skips, the most frequent first."""
        causes = self.summary.causes if self.summary else {}
        for code, number in sorted(causes.items(), key=lambda item: -item[1]):
            yield Cause(code, number, self._query(code=code))

    @cached_property
    def chart(self) -> Histogram:
        counts = self.summary.histogram if self.summary else []
        return histogram_chart(counts, self.scorer.threshold, width=200, height=28, gap=1)

    def bars(self) -> Iterator[LinkedBar]:
        """The bars that stand for anything, each a link."""
        for bar in self.chart.bars:
            if bar.count:
                yield self._linked(bar)

    def _linked(self, bar: Bar) -> LinkedBar:
        low, high = plain(bar.low), plain(bar.high)
        if bar.high == 1:
            return LinkedBar(bar, f"{low} to 1: {count(bar.count)}", self._query(min=low))
        title = f"{low} to below {high}: {count(bar.count)}"
        return LinkedBar(bar, title, self._query(min=low, below=high))

    def _query(self, **asked: str) -> str:
        return "?" + urlencode({"scorer": self.scorer.name, **asked})


def figures_of(scorers: Iterable[RunScorer]) -> list[Figure]:
    """The figures of each scorer; `summary` is to be joined."""
    return [Figure(scorer, getattr(scorer, "summary", None)) for scorer in scorers]
