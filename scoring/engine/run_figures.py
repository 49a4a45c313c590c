"""Each scorer's figures over a run, whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scoring.core.charts import Histogram, histogram_chart
from scoring.core.stats import Estimate, rate_estimate
from scoring.core.trials import Reduced
from scoring.models import RunScorer, RunSummary

MEAN: Final = "mean"
AT_K: Final = "pass@"


@dataclass(frozen=True)
class RunFigure:
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
    def unsteady_count(self) -> int:
        """Cases of which some trials pass and others fail."""
        return int(self.trials.get("unsteady") or 0)

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
    def pass_rate(self) -> Estimate | None:
        """Of the scored outputs, or of the cases; with pass@k the chance of a case."""
        if not self.trials:
            return rate_estimate(self.summary.passed, self.summary.scored) if self.summary else None
        found = self._reduced
        if found is None or found.passed is None:
            return found.mean if found else None
        return rate_estimate(found.passed, found.n)

    @property
    def cause_counts(self) -> list[tuple[str, int]]:
        """The codes of errors and skips, the most frequent first."""
        causes: Mapping[str, int] = self.summary.causes if self.summary else {}
        return sorted(causes.items(), key=lambda item: -item[1])

    @cached_property
    def chart(self) -> Histogram:
        counts = self.summary.histogram if self.summary else []
        return histogram_chart(counts, self.scorer.threshold, width=200, height=28, gap=1)
