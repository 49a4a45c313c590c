"""Who works a comparison out: the page that waits for it, or the worker where it takes long."""

from __future__ import annotations

from typing import Final

from scoring.engine import compare, errands
from scoring.engine.gates import baseline_of, next_run
from scoring.models import Comparison, Errand, ErrandKind, ErrandState, Run, RunState, User

AT_ONCE: Final = 1_000  # pairs that are compared while somebody waits


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


def ask(baseline: Run, candidate: Run, by: User | None) -> None:
    errands.ask(ErrandKind.COMPARE, candidate.team, by, _request(baseline, candidate))


def _request(baseline: Run, candidate: Run) -> dict[str, str]:
    return {"baseline": str(baseline.uuid), "candidate": str(candidate.uuid)}
