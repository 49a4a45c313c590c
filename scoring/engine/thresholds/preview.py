"""What another threshold of a scorer, in a suite or by default, would do to the last runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self
from uuid import UUID

from scoring.core.stats.score_distribution import ScoreDistribution
from scoring.core.wording.thresholds import PassCounts, case_verdicts_sentence, change_sentence
from scoring.engine.thresholds.distribution import read_distributions
from scoring.engine.thresholds.flips import Flips
from scoring.models import Run, RunScorer, RunState, Scorer, Suite, SuiteEntry

RUNS: Final = 10


@dataclass(frozen=True)
class RunPreview:
    """One run: its scores by the scorer, and what passes at both thresholds.

    `scorer` has run, version and summary joined; its own threshold may be an earlier one.
    """

    scorer: RunScorer
    distribution: ScoreDistribution
    old: float
    new: float

    @property
    def run(self) -> Run:
        return self.scorer.run

    @property
    def expected(self) -> int:
        """All outputs that the run should have, those without a score included."""
        summary = self.scorer.summary
        return int(summary.trials["outputs"]["n"]) if summary.trials else summary.n

    @cached_property
    def counts(self) -> PassCounts:
        passed = (self.distribution.count_passed(t) for t in (self.old, self.new))
        return PassCounts(self.distribution.scored, *passed)

    @property
    def flips(self) -> Flips:
        return Flips(self.scorer, self.old, self.new)

    @cached_property
    def case_verdicts(self) -> int:
        """How many verdicts of whole cases change; one query."""
        return self.flips.count_case_verdicts() if self.counts.flips else 0

    @property
    def sentence(self) -> str:
        return change_sentence(self.run.name, self.old, self.new, self.counts)

    @property
    def case_verdicts_sentence(self) -> str:
        return case_verdicts_sentence(self.case_verdicts, self.counts.flips)

    def as_json(self) -> dict[str, Any]:
        """Figures of the run, without its cases."""
        counts = self.counts
        return {
            "run": str(self.run.uuid),
            "name": self.run.name,
            "scorer_version": self.scorer.version.number,
            "run_threshold": self.scorer.threshold,
            "n": self.expected,
            "scored": counts.scored,
            "pass_rate": counts.rate_before,
            "new_pass_rate": counts.rate_after,
            "to_pass": counts.to_pass,
            "to_fail": counts.to_fail,
        }


@dataclass(frozen=True)
class Preview:
    """The last runs with a scorer, newest first, at its threshold in a suite and at a new one.

    Without a suite it is about the scorer's default, and about all runs with the scorer.
    """

    scorer: Scorer
    suite: Suite | None
    old: float
    new: float
    runs: Sequence[RunPreview]

    @classmethod
    def of(cls, subject: SuiteEntry | Scorer, new: float) -> Self:
        """Read it from the rows; two to four queries, whatever the runs' number and size."""
        if isinstance(subject, SuiteEntry):
            scorer, suite = subject.scorer, subject.suite
        else:
            scorer, suite = subject, None
        scorers, old = list(_last_scorers(scorer, suite)), subject.threshold
        distributions = read_distributions(scorers, [old, new])
        runs = [RunPreview(s, distributions[s.pk], old, new) for s in scorers]
        return cls(scorer, suite, old, new, runs)

    def find_run(self, uid: UUID | None) -> RunPreview | None:
        """The run of this id among the previewed ones."""
        return next((run for run in self.runs if run.run.uuid == uid), None)

    @property
    def latest(self) -> RunPreview | None:
        return self.runs[0] if self.runs else None


def _last_scorers(scorer: Scorer, suite: Suite | None) -> Iterable[RunScorer]:
    scorers = RunScorer.objects.filter(
        run__state=RunState.FINISHED, version__scorer=scorer, summary__isnull=False
    )
    if suite:
        scorers = scorers.filter(run__suite=suite)
    return scorers.select_related("run", "version", "summary").order_by("-run")[:RUNS]
