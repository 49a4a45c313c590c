"""The progress of a run, counted from its rows, and why it stands still if it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db.models import Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Now
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.engine.processes import disk_space
from scoring.engine.runs.requirements import queue_of
from scoring.models import (
    Attempt,
    AttemptKind,
    Job,
    OutputSetState,
    Run,
    Shard,
    Worker,
    WorkQueue,
)

ALIVE_SECONDS: Final = 20  # since a worker was seen, which it is every five seconds
RATE_SECONDS: Final = 30  # that the rate is taken from

GENERATING: Final = "making outputs"
_STAGES: Final[dict[str, str]] = {
    AttemptKind.GENERATE: GENERATING,
    AttemptKind.RETRY: "scoring again",
}
NO_WORKER: Final = "no worker: start `manage.py worker`"
ALL_QUEUES: Final = frozenset(WorkQueue)


class RunProgress(NamedTuple):
    """Outputs done of all outputs of the present attempt.

    `cause` says why the run stands still and is None while it does not or when it has ended; `rate`
    is in outputs a second, None before the first shard is done. `stage` is what is being done.
    """

    done: int
    total: int
    state: str
    cause: str | None
    rate: float | None
    seconds_left: float | None
    stage: str = "scoring"

    @property
    def verb(self) -> str:
        """What has been done with the outputs that are done."""
        return "made" if self.stage == GENERATING else "scored"


def run_progress(run: Run) -> RunProgress:
    """The run's progress by its rows; `run` itself should be freshly read."""
    return progress_by_run([run])[run.pk]


def progress_by_run(
    runs: Sequence[Run], *, queues: frozenset[str] | None = None
) -> dict[int, RunProgress]:
    """By the ids of the runs, whose output sets are joined; in one query.

    `queues` saves a query where it is known already which ones living workers take.
    """
    latest = {attempt.run_id: attempt for attempt in _count_outputs(runs)}
    return {
        run.pk: _progress(run, latest.get(run.pk), stall_reason(run, queues=queues)) for run in runs
    }


def _progress(run: Run, attempt: Any, cause: str | None) -> RunProgress:
    """`attempt` is the run's latest as `_count_outputs` gives it, None before there is one."""
    if attempt is None:
        return RunProgress(0, run.output_set.output_count, run.state, cause, None, None)
    rate = _rate(attempt) if run.is_unfinished else None
    left = (attempt.total - attempt.done) / rate if rate else None
    stage = _STAGES.get(attempt.kind, "scoring")
    return RunProgress(attempt.done, attempt.total, run.state, cause, rate, left, stage)


def stall_reason(run: Run, *, queues: frozenset[str] | None = None) -> str | None:
    """Why an unfinished run stands still; None when it does not, or has ended.

    `queues` saves a query where it is known already which ones living workers take.
    """
    if not run.is_unfinished:
        return None
    if run.output_set.state == OutputSetState.LOADING:
        return "waiting for outputs"
    if disk_space.is_out_of_space():
        return disk_space.DISK_FULL
    if lease.is_leased(run):
        return run.stall_reason or None
    taken = live_queues() if queues is None else queues
    needed = {queue_of(run)} if taken and taken < ALL_QUEUES else ALL_QUEUES
    return _describe_lack(needed, taken) or "waiting for the worker"


def job_stall_reason(job: Job | None) -> str:
    """Why an open job stands still; empty when it does not, has ended, or there is none."""
    return find_worker_problem(WorkQueue.JOBS) if job and job.is_open else ""


def find_worker_problem(*needed: WorkQueue) -> str:
    """Why no worker does anything of these queues at present, or of any; empty where they work."""
    if disk_space.is_out_of_space():
        return disk_space.DISK_FULL
    return _describe_lack(needed or ALL_QUEUES, live_queues())


def live_queues() -> frozenset[str]:
    """Which queues the living workers of this site take, together."""
    return frozenset(queue for worker in live_workers() for queue in worker.queues or ALL_QUEUES)


def _describe_lack(needed: Iterable[str], taken: frozenset[str]) -> str:
    """Which of the needed queues nobody takes; empty where all are taken."""
    lacking = [queue for queue in WorkQueue if queue in needed and queue not in taken]
    if not lacking or not taken:
        return NO_WORKER if lacking else ""
    names, option = " or ".join(lacking), ",".join(lacking)
    return f"no worker that takes {names}: start `manage.py worker --queues {option}`"


def has_other_workers(queues: frozenset[str] = ALL_QUEUES) -> bool:
    """Whether a worker of this site besides this process is alive and takes work of these."""
    others = (worker for worker in live_workers() if worker.name != lease.own_name())
    return any(not queues.isdisjoint(worker.queues or ALL_QUEUES) for worker in others)


def count_worker_processes() -> int:
    """How many processes of all living workers score."""
    return sum(worker.process_count for worker in live_workers())


def live_workers() -> list[Worker]:
    """Workers seen lately whose process, where known, has not ended.

    By the database's clock. Who was seen in the future was seen before a clock was set back.
    """
    reach = timedelta(seconds=ALIVE_SECONDS)
    workers = Worker.objects.filter(seen_at__gt=Now() - reach, seen_at__lt=Now() + reach)
    return [worker for worker in workers if not lease.is_dead(worker.name)]


def _count_outputs(runs: Sequence[Run]) -> QuerySet[Attempt]:
    """Each run's attempts, the latest last, with the attributes `done` and `total`, and of the
    shards that were done lately: `begun` and `ended`, when the first and the last of them was done,
    `lately` and `first`, the outputs of all of them and of the first.
    """
    since = timezone.now() - timedelta(seconds=RATE_SECONDS)
    is_latest = Q(shards__done_at__gt=since)
    first = Shard.objects.filter(attempt=OuterRef("pk"), done_at__gt=since).order_by("done_at")
    return (
        Attempt.objects.filter(run__in=runs)
        .order_by("number")
        .annotate(
            done=Sum("shards__output_count", filter=Q(shards__done_at__isnull=False), default=0),
            total=Sum("shards__output_count", default=0),
            begun=Min("shards__done_at", filter=is_latest),
            ended=Max("shards__done_at", filter=is_latest),
            lately=Sum("shards__output_count", filter=is_latest, default=0),
            first=Subquery(first.values("output_count")[:1]),
        )
    )


def _rate(attempt: Any) -> float | None:
    """Outputs a second over the latest shards.

    The first of them only starts the clock: when its own work began is not known.
    """
    if attempt.begun is None:
        return None
    seconds: float = (attempt.ended - attempt.begun).total_seconds()
    return (attempt.lately - attempt.first) / seconds if seconds else None
