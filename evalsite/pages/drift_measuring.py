"""What a drift page says while the worker has yet to measure some of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.http import HttpResponse
from django_htmx.http import HttpResponseClientRefresh

from evalsite.pages.fragments import SignedInRequest, show
from scoring.engine.drift import Line, asks
from scoring.engine.progress import NO_WORKER, worker_is_alive

AGAIN = "again"  # in the address: to be measured although that failed


class Measuring(NamedTuple):
    """`problem` is why it failed, `cause` why it does not move; `here` is the page's address."""

    problem: str
    cause: str
    here: str
    again: str


def measuring(request: SignedInRequest, lines: Sequence[Line]) -> Measuring | None:
    """None where all lines are measured."""
    waiting = {line.series: line.dataset for line in lines if not line.is_measured}
    if not waiting:
        return None
    found = (asks.failed(dataset, series) for series, dataset in waiting.items())
    problem = next((errand.problem for errand in found if errand), "")
    query = request.GET.copy()
    query.pop(AGAIN, None)
    here = f"{request.path}?{query.urlencode()}".rstrip("?")
    query[AGAIN] = "1"
    cause = "" if problem or worker_is_alive() else NO_WORKER
    return Measuring(problem, cause, here, f"{request.path}?{query.urlencode()}")


def looked(request: SignedInRequest, waiting: Measuring | None) -> HttpResponse:
    """What a page that looks whether it is done is told: to wait on, or to show itself anew."""
    if waiting is None:
        return HttpResponseClientRefresh()
    return show(request, "drift/_measuring.html", {"measuring": waiting})
