"""What a drift page says while the worker has yet to measure some of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalsite.pages.fragments import SignedInRequest
from scoring.engine.drift import Line, asks
from scoring.engine.progress import NO_WORKER, worker_is_alive

AGAIN = "again"  # in the address: to be measured although that failed


class Measuring(NamedTuple):
    """`problem` is why it failed, `cause` why it does not move; `here` is the page's address.

    `progress` is None before the worker has measured the first figure.
    """

    problem: str
    cause: str
    progress: asks.Progress | None
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
    again = f"{request.path}?{query.urlencode()}"
    return Measuring(problem, cause, asks.progress_of(lines[0].dataset, waiting), here, again)
