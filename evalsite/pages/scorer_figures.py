"""Each scorer's figures over a run, ready to be set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from evalsite.templatetags.look import count, plain
from scoring.core.charts import Bar, Histogram, histogram_chart
from scoring.core.stats import Estimate, rate_estimate
from scoring.core.trials import REDUCTIONS, Reduced
from scoring.engine.judge_quality import is_judge
from scoring.models import RunScorer, RunSummary

MEAN: Final = "mean"
AT_K: Final = "pass@"


class Unsteady(NamedTuple):
    """How many cases are unsteady, and the query that shows them."""

    number: int
    query: str


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
    """One scorer's figures; without a summary, while the run is going, there are none.

    Where cases have several trials, mean and pass rate are over cases: `how` makes one figure of
    a case's trials. It is mean, median, min or pass@k.
    """

    scorer: RunScorer
    summary: RunSummary | None
    how: str = MEAN

    @cached_property
    def trials(self) -> Mapping[str, Any]:
        """The figures over cases; empty where cases have one trial."""
        return self.summary.trials if self.summary else {}

    @cached_property
    def _reduced(self) -> Reduced | None:
        """The figures over cases, reduced as asked; None where cases have one trial."""
        if not self.trials:
            return None
        k = self.how.removeprefix(AT_K)
        kept = self.trials[self.how] if k == self.how else self.trials["pass_at"].get(k)
        return Reduced(**kept) if kept else None

    @property
    def case_count(self) -> int:
        """How many cases mean and pass rate are over."""
        return self._reduced.n if self._reduced else 0

    @property
    def unsteady(self) -> Unsteady | None:
        """Cases of which some trials pass and others fail; None where there are none."""
        number = self.trials.get("unsteady")
        return Unsteady(number, self._query(unsteady="on")) if number else None

    @property
    def mean(self) -> Estimate | None:
        if not self.trials:
            return self.summary.mean_estimate if self.summary else None
        is_score = self._reduced is not None and self._reduced.passed is not None
        return self._reduced.mean if self._reduced and is_score else None

    @property
    def decimals(self) -> int:
        """As many as show the mean's interval as one: many cases make it narrow."""
        mean = self.mean
        if mean is None or mean.interval is None or mean.interval[0] == mean.interval[1]:
            return 2
        width = mean.interval[1] - mean.interval[0]
        return next((places for places in (2, 3, 4) if width >= 10**-places), 5)

    @property
    def is_judge(self) -> bool:
        return is_judge(self.scorer)

    @property
    def pass_rate(self) -> Estimate | None:
        """Of the scored outputs, or of the cases; with pass@k the chance of a case."""
        if not self.trials:
            return rate_estimate(self.summary.passed, self.summary.scored) if self.summary else None
        found = self._reduced
        if found is None or found.passed is None:
            return found.mean if found else None
        return rate_estimate(found.passed, found.n)

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
        kept = {"trials": self.how} if self.how != MEAN else {}
        return "?" + urlencode({"scorer": self.scorer.name, **asked, **kept})


def figures_of(scorers: Iterable[RunScorer], how: str = MEAN) -> list[Figure]:
    """The figures of each scorer; `summary` is to be joined."""
    found = [Figure(scorer, getattr(scorer, "summary", None)) for scorer in scorers]
    is_known = how in {way.value for way in ways_of(found)}
    return [replace(figure, how=how) for figure in found] if is_known else found


class Way(NamedTuple):
    """One way to make one figure of a case's trials, as a choice."""

    value: str
    text: str


def ways_of(figures: Sequence[Figure]) -> list[Way]:
    """The ways there are; none where cases have one trial."""
    ks = dict.fromkeys(k for figure in figures for k in figure.trials.get("pass_at", ()))
    if not ks:
        return []
    means = [Way(how, _WORDS[how]) for how in REDUCTIONS]
    return means + [Way(f"{AT_K}{k}", f"pass@{k}: any of {k} passes") for k in ks]


_WORDS: Final = {"mean": "mean of its trials", "median": "median", "min": "its lowest"}
