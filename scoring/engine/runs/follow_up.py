"""Follow-up of ended runs: one job for all runs of a team that have ended meanwhile.

A run that ends only enqueues a job. The worker takes all waiting jobs of the team together and
calls the hooks for each series. Every step can be repeated, so the next worker runs the job of a
killed one again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from scoring.engine.jobs.isolation import do_each
from scoring.engine.runs.hooks import RUNS_ENDED, call_hooks
from scoring.engine.runs.neighbours import series_key
from scoring.models import CaseVerdict, Job, JobKind, JobState, Run, Score
from scoring.models.bulk import MANY_ROWS, gather_statistics


def enqueue(run: Run) -> None:
    """Enqueue the job, in the transaction that ends the run, so that neither gets lost."""
    request = {"run": str(run.uuid)}
    Job.objects.create(team_id=run.team_id, kind=JobKind.FOLLOW_UP, request=request)


def run_follow_up(job: Job) -> dict[str, Any]:
    """Follow up the runs of this job and of all waiting ones of the team: {runs}, how many.

    Runs that have been deleted meanwhile are left out.
    """
    waiting = Job.objects.filter(team=job.team_id, kind=job.kind, state=JobState.WAITING)
    others = list(waiting.exclude(pk=job.pk))
    uuids = {each.request["run"] for each in (job, *others)}
    runs = Run.objects.filter(uuid__in=uuids).select_related("output_set__version__dataset__team")
    if any(run.output_set.output_count >= MANY_ROWS for run in runs):
        gather_statistics(Score, CaseVerdict)
    with transaction.atomic():
        follow_up(runs)
        waiting.filter(pk__in=[other.pk for other in others]).update(state=JobState.DONE)
    return {"runs": len(runs)}


def follow_up(runs: Iterable[Run]) -> None:
    """Call the hooks once for each series, with its runs in the order of time.

    A series for which one fails is logged, and harms no other.
    """
    by_series: dict[tuple[int, str], list[Run]] = defaultdict(list)
    for run in sorted(runs, key=series_key):
        by_series[run.output_set.version.dataset_id, run.output_set.series].append(run)
    do_each(by_series.values(), _follow_up_series, "following up runs")


@transaction.atomic
def _follow_up_series(series: Sequence[Run]) -> None:
    call_hooks(RUNS_ENDED, series)
