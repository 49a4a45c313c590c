"""Runs over older versions of a dataset, scored again over the latest one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from scoring.core.contract import ConfigError
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.review.carry_over import CarryOverError, carry_over, remove_unfinished
from scoring.engine.runs.planning import create_run
from scoring.models import (
    Dataset,
    DatasetVersion,
    Job,
    JobKind,
    OutputSet,
    Run,
    RunState,
    User,
)

MAX_RUNS: Final = 50  # that are listed and scored again at once


class OlderRun(NamedTuple):
    """The latest finished run of outputs over an older version; `again` are its runs over the
    latest one, the newest first.
    """

    run: Run
    again: Sequence[Run]


def older_runs(dataset: Dataset) -> list[OlderRun]:
    """The newest run of each output set that has an older version than the latest one."""
    runs = _latest_runs(dataset, exclude=dataset.latest)
    again: dict[int, list[Run]] = {}
    copies = Run.objects.filter(
        output_set__version=dataset.latest_id,
        output_set__copied_from__in=[run.output_set_id for run in runs],
    )
    for run in copies.select_related("output_set").order_by("-pk"):
        again.setdefault(run.output_set.copied_from_id or 0, []).append(run)
    found = [OlderRun(run, again.get(run.output_set_id, [])) for run in runs]
    moved_on = set(
        OutputSet.objects.filter(copied_from__in=[run.output_set_id for run in runs])
        .exclude(version=dataset.latest_id)
        .values_list("copied_from", flat=True)
    )
    return [each for each in found if each.again or each.run.output_set_id not in moved_on]


def runs_to_score_again(dataset: Dataset) -> list[Run]:
    """Those that the next version concerns: the newest run of each set that is not copied on."""
    runs = _latest_runs(dataset)
    copied = set(
        OutputSet.objects.filter(copied_from__in=[run.output_set_id for run in runs]).values_list(
            "copied_from", flat=True
        )
    )
    return [run for run in runs if run.output_set_id not in copied]


def enqueue(dataset: Dataset, version: DatasetVersion, runs: Iterable[Run], by: User) -> Job | None:
    """Let the worker score these runs again over the version; None where there are none."""
    names = sorted(str(run.uuid) for run in runs)
    if not names:
        return None
    request = {"dataset": str(dataset.uuid), "version": version.number, "runs": names}
    return job_queue.enqueue_once(JobKind.SCORE_AGAIN, dataset.team, by, request)


def latest_job(dataset: Dataset) -> Job | None:
    """The latest of these jobs within a day."""
    jobs = Job.objects.filter(team=dataset.team_id, kind=JobKind.SCORE_AGAIN)
    return jobs.filter(request__dataset=str(dataset.uuid)).order_by("pk").last()


def run_score_again(job: Job) -> Mapping[str, Any]:
    """From {dataset, version, runs} to {runs, problems}: pairs of a run's id and that of its new
    one, and of a run's name and why it has none.

    A run that was made by an earlier try of the job is not made again.
    """
    version = (
        DatasetVersion.objects.select_related("dataset__team")
        .filter(
            dataset__team=job.team,
            dataset__uuid=UUID(job.request["dataset"]),
            number=job.request["version"],
        )
        .first()
    )
    if version is None or job.requested_by is None:
        raise JobError("the version or the person who asked is no longer there")
    wanted = [UUID(text) for text in job.request["runs"]]
    of_dataset = Run.objects.of_dataset(version.dataset).filter(uuid__in=wanted)
    made: list[tuple[str, str]] = []
    problems: list[tuple[str, str]] = []
    for run in of_dataset.select_related("output_set__version", "suite").order_by("pk"):
        try:
            again = _score_again(run, version, job.requested_by, job)
            made.append((str(run.uuid), str(again.uuid)))
        except (CarryOverError, ConfigError) as refused:
            problems.append((run.name, str(refused)))
    return {"runs": made, "problems": problems}


def _score_again(run: Run, version: DatasetVersion, by: User, job: Job) -> Run:
    """A run of the same outputs over the version, by the same suite or scorers. Raises
    CarryOverError, ConfigError.
    """
    if job.try_count:  # before this one
        remove_unfinished(run.output_set, version)
    outputs = carry_over(run.output_set, version, by)
    made = Run.objects.filter(output_set=outputs, created_by=by, created_at__gte=job.created_at)
    if found := made.filter(name=run.name).first():
        return found
    return create_run(
        outputs,
        suite=run.suite,
        scorers=() if run.suite else _scorers_of(run),
        name=run.name,
        by=by,
        budget_usd=run.budget_usd,
    )


def _scorers_of(run: Run) -> list[tuple[Any, float]]:
    scorers = run.scorers.select_related("version__scorer__current")
    return [(each.version.scorer, each.threshold) for each in scorers]


def _latest_runs(dataset: Dataset, exclude: DatasetVersion | None = None) -> list[Run]:
    """The newest finished run of each output set, not archived, the newest first."""
    finished = Run.objects.of_dataset(dataset).unarchived().filter(state=RunState.FINISHED)
    if exclude is not None:
        finished = finished.exclude(output_set__version=exclude)
    newest: dict[int, Run] = {}
    for run in finished.for_list()[: MAX_RUNS * 4]:
        newest.setdefault(run.output_set_id, run)
    return list(newest.values())[:MAX_RUNS]
