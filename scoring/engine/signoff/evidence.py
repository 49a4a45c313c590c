"""The evidence for a release: what broke since the baseline, and what is not signed off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.comparison import stored_comparison
from scoring.engine.drift.broken_cases import Regression
from scoring.models import CaseDecision, Run, Waiver
from scoring.models.pairs.pair_index import indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.broken_cases import BrokenCases, StateCounts


@dataclass(frozen=True)
class Evidence:
    """The figures behind a release decision; `sentence` is empty where nothing is compared yet.

    Counts of states are None without a baseline.
    """

    passed: int
    failed: int
    errors: int
    skipped: int
    missing_outputs: int
    baseline: str | None = None  # its name
    broke: int | None = None
    fixed: int | None = None
    open: int | None = None
    accepted: int | None = None
    rejected: int | None = None
    waived: int | None = None
    sentence: str = ""

    @property
    def unsigned(self) -> int | None:
        """Broken cases that are open or rejected."""
        if self.open is None or self.rejected is None:
            return None
        return self.open + self.rejected

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def gather_evidence(run: Run, baseline: Run | None) -> Evidence:
    """As it is now; counting takes a moment where the runs are not compared yet."""
    own: dict[str, Any] = {
        "passed": run.pass_count or 0,
        "failed": run.fail_count or 0,
        "errors": run.error_count or 0,
        "skipped": run.skipped_count or 0,
        "missing_outputs": run.missing_output_count or 0,
    }
    if baseline is None:
        return Evidence(**own)
    stored = stored_comparison(baseline, run)
    if stored:
        figures = read_figures(stored)
        broke, fixed, sentence = figures.broke, figures.fixed, figures.sentence
    else:
        counts = Pairs(baseline, run).counts()
        broke, fixed, sentence = counts.broke, counts.fixed, ""
    states = BrokenCases(baseline, run).counts(broke)._asdict()
    return Evidence(
        **own, baseline=baseline.name, broke=broke, fixed=fixed, sentence=sentence, **states
    )


def count_states(run: Run, baseline: Run) -> StateCounts | None:
    """The states of the broken cases; None where the runs are not compared yet."""
    broke = indexed_list(baseline, run, PairKind.BROKE).total
    return None if broke is None else BrokenCases(baseline, run).counts(broke)


def count_unsigned(regressions: Sequence[Regression]) -> Iterator[int]:
    """How many broken cases of each regression are not signed off, one after the other.

    Two queries, and some more for each regression that is asked for and has waivers or decisions.
    """
    datasets = [each.standing.dataset for each in regressions]
    waived = set(_waived_datasets(datasets, timezone.localdate()))
    decided = set(_decided_runs([each.run for each in regressions]))

    def count(regression: Regression) -> int:
        if regression.run not in decided and regression.standing.dataset not in waived:
            return regression.broke
        joined = Run.objects.select_related("output_set__version__dataset")
        uids = regression.run, regression.baseline
        runs = {run.uuid: run for run in joined.filter(uuid__in=uids)}
        if len(runs) < len(uids):
            return regression.broke
        run, baseline = (runs[uid] for uid in uids)
        return BrokenCases(baseline, run).counts(regression.broke).unsigned

    return map(count, regressions)


@prepared_query
def _waived_datasets(datasets: Sequence[UUID], today: date) -> QuerySet[Waiver, UUID]:
    waivers = Waiver.objects.active(today).filter(dataset__uuid__in=datasets)
    return waivers.values_list("dataset__uuid", flat=True)


@prepared_query
def _decided_runs(runs: Sequence[UUID]) -> QuerySet[CaseDecision, UUID]:
    decisions = CaseDecision.objects.filter(candidate__uuid__in=runs)
    return decisions.values_list("candidate__uuid", flat=True)
