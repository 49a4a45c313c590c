"""Who works a comparison out: the page that waits for it, or the worker where it takes long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import CharField, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Replace

from scoring.engine import compare, errands
from scoring.engine.gates import baseline_of, next_run
from scoring.engine.stages import Progress
from scoring.models import Comparison, Errand, ErrandKind, ErrandState, Run, RunState, User
from scoring.models.errand import OPEN
from scoring.models.pair_places import PairPlaces

AT_ONCE: Final = 1_000  # pairs that are compared while somebody waits
ASKED: Final = (*OPEN, ErrandState.FAILED)  # what is asked, or was in vain, is not asked again


def compared_for(baseline: Run, candidate: Run, by: User | None) -> Comparison | None:
    """The comparison; None where the worker has to work it out first, which it is asked to.

    Raises NotComparableError.
    """
    if is_small(baseline, candidate):
        return compare.compared(baseline, candidate)
    compare.check(baseline, candidate)
    found = compare.kept(baseline, candidate)
    if found is None:
        ask(baseline, candidate, by)
    return found


def is_small(baseline: Run, candidate: Run) -> bool:
    """Whether there cannot be more pairs than are compared at once."""
    return min(baseline.case_count or 0, candidate.case_count or 0) <= AT_ONCE


def failed(baseline: Run, candidate: Run) -> Errand | None:
    """The worker's latest try at it, where that came to nothing."""
    asked = {"team": candidate.team_id, "kind": ErrandKind.COMPARE}
    request = _request(baseline, candidate)
    latest = Errand.objects.filter(**asked, request=request).order_by("pk").last()
    return latest if latest and latest.state == ErrandState.FAILED else None


def progress_of(baseline: Run, candidates: Sequence[Run]) -> dict[int, Progress]:
    """How far the worker is with these, by the candidate's id; one that it has not begun, or let
    go of, is not there.
    """
    team = candidates[0].team_id
    rows = Errand.objects.filter(team=team, kind=ErrandKind.COMPARE, state=ErrandState.WORKING)
    told = [(row.request, Progress.of(row)) for row in rows]
    wanted = ((run.pk, _request(baseline, run)) for run in candidates)
    return {
        pk: progress
        for pk, request in wanted
        for asked, progress in told
        if progress and asked == request
    }


def leave_after(run: Run) -> None:
    """Leave it to the worker to compare a finished run with its baseline, if it has one.

    Runs may end in another order than they follow each other, and again: the run after this one
    may be without its comparison.
    """
    if run.state != RunState.FINISHED:
        return
    following = next_run(run)
    pairs = [(baseline_of(run), run)]
    pairs += [(run, following)] if following and baseline_of(following) == run else []
    for baseline, candidate in pairs:
        if baseline:
            errands.leave(ErrandKind.COMPARE, run.team, _request(baseline, candidate))


def with_asked(baselines: QuerySet[Run], candidate: Run) -> QuerySet[Run]:
    """With the attributes `is_compared`, whether it is kept where the pairs with the candidate
    stand, and `comparison_asked`, the state of the worker's latest try at that, or None.
    """
    kept = PairPlaces.objects.current().filter(
        comparison__baseline=OuterRef("pk"), comparison__candidate=candidate
    )
    tries = Errand.objects.filter(
        team=candidate.team_id, kind=ErrandKind.COMPARE, request__candidate=str(candidate.uuid)
    ).annotate(baseline=_bare(KT("request__baseline")))
    latest = tries.filter(baseline=OuterRef("bare_uuid")).order_by("-pk")
    named = baselines.annotate(bare_uuid=_bare(Cast("uuid", CharField())))
    return named.annotate(
        is_compared=Exists(kept), comparison_asked=Subquery(latest.values("state")[:1])
    )


def leave_large(baseline: Run, candidate: Run) -> None:
    """Leave it to the worker to compare two large runs that have ended, which nobody asked yet:
    from then on it is kept where few of their pairs stand.
    """
    is_unfinished = baseline.is_unfinished or candidate.is_unfinished
    if not (is_unfinished or is_small(baseline, candidate)):
        asked = {"team": candidate.team, "kind": ErrandKind.COMPARE}
        Errand.objects.create(**asked, request=_request(baseline, candidate))


def _bare(uuid: Any) -> Replace:
    """The text of a UUID as every database has it: one keeps it with hyphens, one without."""
    return Replace(uuid, Value("-"), Value(""), output_field=CharField())


def ask(baseline: Run, candidate: Run, by: User | None) -> None:
    errands.ask(ErrandKind.COMPARE, candidate.team, by, _request(baseline, candidate))


def _request(baseline: Run, candidate: Run) -> dict[str, str]:
    return {"baseline": str(baseline.uuid), "candidate": str(candidate.uuid)}
