"""The stored results of the runs of a line, as far as they are up to date.

They are up to the first run that is new, was scored again or follows another one than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db.models import Case, F, QuerySet, When

from scoring.core.stats.change_points import DecidedRun, Outcome
from scoring.engine.drift.breaks import find_breaks, read_versions
from scoring.models import DriftResult, RunScorer

#: The fields of StoredResults, of the scorers of `with_freshness`.
RESULT_COLUMNS: Final = (
    "id", "fresh", "summary__mean", "drift_result__before", "drift_result__outcome",
    "drift_result__back", "drift_result__p", "drift_result__p_corrected",
)  # fmt: skip
_OUTCOMES: Final = tuple(Outcome)  # by value: looked up in a quarter of the time


class StoredResults(NamedTuple):
    """The stored results of a comparable run. `scorer` is its RunScorer's id, and so is `fresh`
    unless the run was scored again since: then it is None.
    """

    scorer: int
    fresh: int | None
    mean: float
    before: int | None
    outcome: int | None
    back: int | None
    p: float | None
    p_corrected: float | None


def with_freshness(scorers: QuerySet[RunScorer]) -> QuerySet[RunScorer]:
    """With the attribute `fresh`. The database compares the dates: reading two of each run takes
    longer than reading the rest of a line. It is an id as Django leaves ids as they are, where it
    converts the numbers and truths that an expression gives, row by row.
    """
    same = When(drift_result__run_finished_at=F("run__finished_at"), then=F("pk"))
    return scorers.annotate(fresh=Case(same))


def stored_results(scorer: RunScorer) -> StoredResults:
    """Of a scorer of `runs_in_time` that has a mean."""
    result: DriftResult | None = getattr(scorer, "drift_result", None)
    is_fresh = result is not None and result.run_finished_at == scorer.run.finished_at
    names = ("before", "outcome", "back", "p", "p_corrected")
    values = [getattr(result, name) if result else None for name in names]
    fresh = scorer.pk if is_fresh else None
    return StoredResults(scorer.pk, fresh, scorer.summary.mean or 0.0, *values)


def judged_runs(runs: Sequence[StoredResults], *, is_whole: bool = True) -> list[DecidedRun]:
    """What is decided of these comparable runs, oldest first, as far as it is up to date.

    Where `is_whole` is False, older runs of the line are left out.
    """
    decided: list[DecidedRun] = []
    before: int | None = None
    for run in runs:
        follows = run.before == before or (not decided and not is_whole)
        if run.outcome is None or run.fresh is None or not follows:
            break
        outcome = _OUTCOMES[run.outcome]
        decided.append(DecidedRun(run.mean, outcome, run.back or 0, run.p, run.p_corrected))
        before = run.scorer
    return decided


def comparable_parts(line: Sequence[RunScorer]) -> list[list[RunScorer]]:
    """The runs of a line that have a mean, parted where means stop being comparable."""
    parts: list[list[RunScorer]] = [[]]
    for before, scorer in zip([*line[:1], *line], line, strict=False):
        breaks = find_breaks(read_versions(before), read_versions(scorer))
        if any(change.parts for change in breaks):
            parts.append([])
        if scorer.summary.mean is not None:
            parts[-1].append(scorer)
    return [part for part in parts if part]
