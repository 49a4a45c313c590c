"""What a site has to do, who does it and how fast: for its administrators and their monitoring."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.utils import timezone

from scoring.engine.runs.progress import live_workers
from scoring.models import Attempt, Job, OutgoingMail, Run, Shard, Upload, Worker
from scoring.models.data.upload import WORKING
from scoring.models.runs.run import UNFINISHED

RATE_PERIOD: Final = timedelta(minutes=1)


class Queue(NamedTuple):
    """Work that is not done. `oldest_since` is when the first of it came in, None if unknown."""

    name: str
    length: int
    oldest_since: datetime | None = None


class SiteFigures(NamedTuple):
    """`outputs_a_minute` are those scored or made in the last minute."""

    workers: Sequence[Worker]
    queues: Sequence[Queue]
    outputs_a_minute: int

    @property
    def process_count(self) -> int:
        """How many processes score."""
        return sum(worker.process_count for worker in self.workers)


def read_site_figures() -> SiteFigures:
    """The figures of all teams together, in seven queries."""
    workers = sorted(live_workers(), key=lambda worker: worker.started_at)
    return SiteFigures(workers, _queues(), _count_recent_outputs())


def _queues() -> list[Queue]:
    open_shards = Shard.objects.filter(done_at=None, attempt__finished_at=None)
    return [
        Queue("runs", Run.objects.unfinished().count()),
        _queue(
            "shards", open_shards.filter(attempt__run__state__in=UNFINISHED), "attempt__created_at"
        ),
        Queue("uploads", Upload.objects.filter(state__in=WORKING).count()),
        _queue("jobs", Job.objects.unfinished()),
        _queue("mail", OutgoingMail.objects.exclude(next_try_at=None)),
    ]


def _queue(
    name: str,
    rows: QuerySet[Shard] | QuerySet[Job] | QuerySet[OutgoingMail],
    since: str = "created_at",
) -> Queue:
    figures = rows.order_by().aggregate(count=Count("pk"), oldest=Min(since))
    return Queue(name, figures["count"], figures["oldest"])


def _count_recent_outputs() -> int:
    since = timezone.now() - RATE_PERIOD
    recent = Attempt.objects.filter(Q(finished_at=None) | Q(finished_at__gt=since))
    shards = Shard.objects.filter(attempt__in=recent.values("pk"), done_at__gt=since).order_by()
    return shards.aggregate(sum=Sum("output_count"))["sum"] or 0
