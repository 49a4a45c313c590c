"""How far a run is, counted from its rows, and why it stands still when it does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db.models import Q, Sum
from django.utils import timezone

from scoring.engine import hold
from scoring.models import AttemptKind, Errand, OutputSetState, Run, Shard, Worker

ALIVE_SECONDS: Final = 20  # a worker says every five that it lives
RATE_SECONDS: Final = 30  # the rate is that of the latest seconds

_STAGES: Final[dict[str, str]] = {
    AttemptKind.GENERATE: "making outputs",
    AttemptKind.RETRY: "scoring again",
}
NO_WORKER: Final = "no worker: start `manage.py worker`"


class Progress(NamedTuple):
    """Outputs done of all outputs of the present attempt.

    `cause` says why nothing moves and is None while something does or the run has ended; `rate`
    is in outputs a second, None before the first shard is done. `stage` is what is being done.
    """

    done: int
    total: int
    state: str
    cause: str | None
    rate: float | None
    seconds_left: float | None
    stage: str = "scoring"


def progress_of(run: Run) -> Progress:
    """The run's progress by its rows at this moment; `run` itself should be freshly read."""
    attempt = run.attempts.last()
    done, total = (0, run.output_set.output_count)
    rate = None
    if attempt:
        shards = Shard.objects.filter(attempt=attempt)
        done, total = _counted(shards)
        rate = _rate(shards) if run.is_unfinished else None
    left = (total - done) / rate if rate else None
    stage = _STAGES.get(attempt.kind if attempt else "", "scoring")
    return Progress(done, total, run.state, cause_of(run), rate, left, stage)


def cause_of(run: Run, *, has_worker: bool | None = None) -> str | None:
    """Why an unfinished run does not move; None when it does, or has ended.

    `has_worker` spares the question when it has been asked already.
    """
    if not run.is_unfinished:
        return None
    if run.output_set.state == OutputSetState.LOADING:
        return "waiting for outputs"
    if hold.is_held(run):
        return run.standstill or None
    is_alive = worker_is_alive() if has_worker is None else has_worker
    return "waiting for the worker" if is_alive else NO_WORKER


def cause_of_errand(errand: Errand | None) -> str:
    """Why an errand that waits does not move; empty when it does, has ended, or there is none."""
    is_waiting = errand is not None and errand.is_open
    return NO_WORKER if is_waiting and not worker_is_alive() else ""


def worker_is_alive() -> bool:
    """Whether a worker has said lately that it lives."""
    lately = timezone.now() - timedelta(seconds=ALIVE_SECONDS)
    return any(
        not hold.is_gone(worker.name) for worker in Worker.objects.filter(seen_at__gt=lately)
    )


def _counted(shards: Any) -> tuple[int, int]:
    counts = shards.aggregate(
        done=Sum("output_count", filter=Q(done_at__isnull=False), default=0),
        total=Sum("output_count", default=0),
    )
    return counts["done"], counts["total"]


def _rate(shards: Any) -> float | None:
    """Outputs a second over the latest shards.

    The first of them only starts the clock: when its own work began is not known.
    """
    since = timezone.now() - timedelta(seconds=RATE_SECONDS)
    latest = list(
        shards.filter(done_at__gt=since).order_by("done_at").values_list("done_at", "output_count")
    )
    if len(latest) < 2:
        return None
    seconds: float = (latest[-1][0] - latest[0][0]).total_seconds()
    return sum(count for _, count in latest[1:]) / seconds if seconds else None
