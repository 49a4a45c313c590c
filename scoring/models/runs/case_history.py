"""The history of a case: its verdicts in the runs of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from scoring.models.data.dataset import Case
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import OLDEST_FIRST, Run, RunState
from scoring.models.runs.score import CaseVerdict, Verdict


class CaseOutcome(NamedTuple):
    """The case in one run. `position` is its place in that run's dataset version.

    Only a run that `has_suite` can have later labels.
    """

    run: UUID
    name: str
    dated: datetime
    position: int
    verdict: Verdict
    has_suite: bool = False


@dataclass(frozen=True)
class CaseHistory:
    """The runs of a series that have the case, oldest first."""

    seen: Sequence[CaseOutcome]

    @property
    def flips(self) -> int:
        """How often it passed after it had failed, or failed after it had passed; errors and
        skips between are passed over.
        """
        return sum(old.verdict != new.verdict for old, new in pairwise(self._judged))

    @cached_property
    def first_bad(self) -> CaseOutcome | None:
        """Where it began to fail the latest time; None where it never failed, or never passed."""
        first_bad = None
        for previous, outcome in pairwise([None, *self._judged]):
            has_failed = outcome is not None and outcome.verdict == Verdict.FAIL
            if has_failed and (previous is None or previous.verdict == Verdict.PASS):
                first_bad = outcome
        return first_bad if self.flips else None

    @cached_property
    def passed_again(self) -> CaseOutcome | None:
        """Where it passed first after its latest failure; None where it did not since, or never
        failed.
        """
        first_passed = None
        for outcome in reversed(self._judged):
            if outcome.verdict == Verdict.FAIL:
                return first_passed
            first_passed = outcome
        return None

    @property
    def _judged(self) -> list[CaseOutcome]:
        return [outcome for outcome in self.seen if outcome.verdict <= Verdict.FAIL]


def read_case_history(
    run: Run, key: str, trial: int = 0, hidden: frozenset[int] = frozenset()
) -> CaseHistory:
    """The case's verdicts over the finished runs of the run's dataset and series; three queries.

    Those on `hidden` outputs are left out.
    """
    series = run.output_set.version.dataset_id, run.output_set.series
    rows = _runs(*series)
    positions = dict(_positions(key, sorted({version for _, version, *_ in rows})))
    places = sorted(set(positions.values()))
    verdicts = {
        (pk, position): _FoundVerdict(Verdict(verdict), output)
        for pk, position, verdict, output in _verdicts(*series, places, trial)
    }
    placed = [(*row, positions.get(row[1], 0)) for row in rows]  # positions count from 1
    return CaseHistory(
        [
            CaseOutcome(uid, name, dated, position, found.verdict, bool(suite))
            for pk, _, uid, name, dated, suite, position in placed
            if (found := verdicts.get((pk, position))) and found.output not in hidden
        ]
    )


class _FoundVerdict(NamedTuple):
    verdict: Verdict
    output: int


def _finished_runs(dataset: int, series: str) -> QuerySet[Run]:
    runs = Run.objects.filter(output_set__version__dataset=dataset, output_set__series=series)
    return runs.filter(state=RunState.FINISHED)


@prepared_query
def _runs(dataset: int, series: str) -> QuerySet[Run, Any]:
    runs = _finished_runs(dataset, series).order_by(*OLDEST_FIRST)
    return runs.values_list(
        "pk", "output_set__version", "uuid", "name", "output_set__dated", "suite_name"
    )


@prepared_query
def _positions(key: str, versions: Sequence[int]) -> QuerySet[Case, tuple[int, int]]:
    """By version: in those of a dataset a case may stand in different places."""
    cases = Case.objects.filter(version__pk__in=versions, key=key)
    return cases.values_list("version", "position")


@prepared_query
def _verdicts(
    dataset: int, series: str, positions: Sequence[int], trial: int
) -> QuerySet[CaseVerdict, Any]:
    runs = _finished_runs(dataset, series).order_by().values("pk")
    verdicts = CaseVerdict.objects.filter(run__in=runs, position__in=positions, trial=trial)
    return verdicts.values_list("run", "position", "verdict", "output")
