"""What another threshold of a scorer, in a suite or by default, would do to the last runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self
from uuid import UUID

from django.db.models import QuerySet

from scoring.core.stats.score_distribution import ScoreDistribution
from scoring.core.wording.thresholds import PassCounts, case_verdicts_sentence, change_sentence
from scoring.engine.thresholds.distribution import read_distributions
from scoring.engine.thresholds.flips import Flips, find_flips
from scoring.models import Run, RunScorer, RunState, Scorer, Suite, SuiteEntry
from scoring.models.runs.run import NEWEST_FIRST

RUNS: Final = 10
SERIES: Final = 10  # of a suite, those with the newest runs


@dataclass(frozen=True)
class RunPreview:
    """One run: its scores by the scorer, and what passes at both thresholds.

    Cases with several trials count once, by their mean. `scorer` has run, version and summary
    joined; its own threshold may be an earlier one.
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
        """All cases that the run should have, those without a score included."""
        return self.scorer.summary.n

    @cached_property
    def counts(self) -> PassCounts:
        passed = (self.distribution.count_passed(t) for t in (self.old, self.new))
        return PassCounts(self.distribution.scored, *passed)

    @property
    def flips(self) -> Flips:
        return find_flips(self.scorer, self.old, self.new)

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
    scorers = RunScorer.objects.filter(run__state=RunState.FINISHED, version__scorer=scorer)
    if suite:
        scorers = scorers.filter(run__suite=suite)
    return _summarized(scorers).order_by("-run")[:RUNS]


def _summarized(scorers: QuerySet[RunScorer]) -> QuerySet[RunScorer]:
    """With all that a preview reads joined."""
    related = ("run__output_set__version__dataset", "version", "summary")
    return scorers.filter(summary__isnull=False).select_related(*related)


def preview_suite(suite: Suite, new: Mapping[int, float]) -> list[Preview]:
    """Of each entry of the suite, on the last run of each series, the newest run first.

    `new` has thresholds by the scorers' ids; others stay. A few queries, whatever the number of
    scorers and runs.
    """
    entries = list(suite.entries.select_related("scorer__current"))
    runs = _last_of_series(suite)
    scorers = list(
        _summarized(RunScorer.objects.filter(run__in=runs)).filter(
            version__scorer__in=[entry.scorer_id for entry in entries]
        )
    )
    thresholds = {entry.threshold for entry in entries} | set(new.values())
    distributions = read_distributions(scorers, thresholds)
    by_pair = {(each.version.scorer_id, each.run_id): each for each in scorers}
    previews = []
    for entry in entries:
        old, wanted = entry.threshold, new.get(entry.scorer_id, entry.threshold)
        found = (by_pair.get((entry.scorer_id, run.pk)) for run in runs)
        of_runs = [RunPreview(s, distributions[s.pk], old, wanted) for s in found if s]
        previews.append(Preview(entry.scorer, suite, old, wanted, of_runs))
    return previews


def _last_of_series(suite: Suite) -> list[Run]:
    """The last finished run of the suite in each series of a dataset, the newest first."""
    finished = Run.objects.filter(suite=suite, state=RunState.FINISHED).order_by(*NEWEST_FIRST)
    last: dict[tuple[int, str], int] = {}
    columns = ("pk", "output_set__version__dataset", "output_set__series")
    for pk, dataset, series in finished.values_list(*columns):
        last.setdefault((dataset, series), pk)
    pks = list(last.values())[:SERIES]
    runs = Run.objects.select_related("output_set__version__dataset").in_bulk(pks)
    return [runs[pk] for pk in pks]
