"""Each scorer's figures over a run, whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scoring.core.charts.small_charts import Histogram, histogram_chart
from scoring.core.stats.descriptive import Estimate, rate_estimate
from scoring.core.stats.trials import Bounds, ReducedScores
from scoring.models import RunScorer, RunSummary

MEAN: Final = "mean"
AT_K: Final = "pass@"
NO_SPREAD: Final = 1e-6  # of an interval; rounding of 100,000 equal scores leaves up to 2e-8


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
    def _reduced(self) -> ReducedScores | None:
        """The figures over cases, reduced by `how`; None where cases have one trial."""
        if not self.trials:
            return None
        k = self.how.removeprefix(AT_K)
        figures = self.trials[self.how] if k == self.how else self.trials["pass_at"].get(k)
        return ReducedScores(**figures) if figures else None

    @cached_property
    def bounds(self) -> Bounds | None:
        """Where trials failed to run, what mean and pass rate can be at least and at most, by any
        reduction but the mean; these are None then, as they would flatter.
        """
        found = self.trials.get("bounds", {}).get(self.how) if self.how != MEAN else None
        return Bounds(**found) if found else None

    @property
    def lost_count(self) -> int:
        """Cases of which a trial failed to run."""
        return int(self.trials.get("lost", 0))

    @property
    def case_count(self) -> int:
        """How many cases mean and pass rate are over."""
        if self.bounds:
            return self.bounds.n
        return self._reduced.n if self._reduced else 0

    @property
    def unsteady_count(self) -> int:
        """Cases of which some trials pass and others fail."""
        return int(self.trials.get("unsteady") or 0)

    @property
    def mean(self) -> Estimate | None:
        if not self.trials:
            return self.summary.mean_estimate if self.summary else None
        reduced = None if self.bounds else self._reduced
        return reduced.mean if reduced and reduced.passed is not None else None

    @property
    def decimals(self) -> int:
        """As many as tell the ends of the mean's interval apart. Equal scores have no spread,
        whatever rounding left in their sums.
        """
        low, high = self.mean.interval or (0.0, 0.0) if self.mean else (0.0, 0.0)
        if (width := high - low) < NO_SPREAD:
            return 2
        return next((decimals for decimals in (2, 3, 4) if width >= 10**-decimals), 5)

    @property
    def pass_rate(self) -> Estimate | None:
        """Of the scored outputs, or of the cases; with pass@k the chance of a case."""
        if not self.trials:
            return rate_estimate(self.summary.passed, self.summary.scored) if self.summary else None
        reduced = None if self.bounds else self._reduced
        if reduced is None or reduced.passed is None:
            return reduced.mean if reduced else None
        return rate_estimate(reduced.passed, reduced.n)

    @property
    def cause_counts(self) -> list[tuple[str, int]]:
        """The codes of errors and skips, the most frequent first."""
        causes: Mapping[str, int] = self.summary.causes if self.summary else {}
        return sorted(causes.items(), key=lambda item: -item[1])

    @property
    def fault_counts(self) -> list[tuple[str, int]]:
        """The codes of outputs that score 0 for a fault, the most frequent first."""
        faults: Mapping[str, int] = self.summary.faults if self.summary else {}
        return sorted(faults.items(), key=lambda item: -item[1])

    @cached_property
    def chart(self) -> Histogram:
        counts = self.summary.histogram if self.summary else []
        return histogram_chart(counts, self.scorer.threshold, width=200, height=28, gap=1)
