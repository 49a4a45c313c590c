"""What follows the end of runs: one row each, worked off together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import follow_up
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    AlertKind,
    AlertRule,
    AlertWatch,
    CaseVerdict,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Run,
    RunStep,
    Score,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

pytestmark = pytest.mark.django_db
FOLLOW_UP = JobKind.FOLLOW_UP


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"} for _ in range(4)])


@pytest.fixture
def runs(version: DatasetVersion, make_outputs: MakeOutputs) -> list[Run]:
    """Four weekly runs of one series, which have ended."""
    made = [queued_run(make_outputs(version, ["yes"] * 4, series="a")) for _ in range(4)]
    for week, run in enumerate(made):
        run.output_set.dated = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=week)
        run.output_set.save(update_fields=["dated"])
        run_to_end(run, InlineExecutor())
    return made


def kinds(state: JobState) -> list[str]:
    rows = Job.objects.filter(state=state).order_by("pk")
    return list(rows.values_list("kind", flat=True))


def test_a_run_that_ends_leaves_one_row(runs: list[Run]) -> None:
    assert kinds(JobState.WAITING) == [FOLLOW_UP] * 4
    requests = Job.objects.order_by("pk").values_list("request", flat=True)
    assert list(requests) == [{"run": str(run.uuid)} for run in runs]


def test_many_runs_are_followed_up_at_once(runs: list[Run]) -> None:
    """Measured once, and only the newest is compared: the others are when somebody jobs."""
    job_queue.run_waiting(runs[0].team, FOLLOW_UP)
    assert kinds(JobState.DONE) == [FOLLOW_UP] * 4
    assert kinds(JobState.WAITING) == [JobKind.MEASURE_DRIFT, JobKind.COMPARE]
    assert Job.objects.latest("pk").request == {
        "baseline": str(runs[2].uuid),
        "candidate": str(runs[3].uuid),
    }
    assert Job.objects.order_by("pk")[0].answer == {"runs": 4}


def test_measuring_follows_for_all_runs_of_the_series(runs: list[Run]) -> None:
    job_queue.run_waiting(runs[0].team, FOLLOW_UP, JobKind.MEASURE_DRIFT)
    assert RunStep.objects.count() == 3


def test_what_was_cut_short_is_done_again(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Power goes amid the batch: nothing of it is done, and the next worker does it all."""

    def power_goes(_: Run) -> None:
        raise KeyboardInterrupt

    job = Job.objects.order_by("pk")[0]
    with monkeypatch.context() as patched:
        patched.setattr(compare_jobs, "enqueue_comparisons", power_goes)
        with pytest.raises(KeyboardInterrupt):
            job_queue.run_job(job)
    assert kinds(JobState.WAITING) == [FOLLOW_UP] * 3
    job.refresh_from_db()
    assert (job.state, job.can_start) == (JobState.WORKING, True)
    job_queue.run_job(job)
    assert kinds(JobState.WAITING) == [JobKind.MEASURE_DRIFT, JobKind.COMPARE]


def test_the_end_of_a_run_has_its_alert_rules_looked_at(
    runs: list[Run], version: DatasetVersion
) -> None:
    dataset = version.dataset
    rule = AlertRule.objects.define(
        dataset.team, dataset, kind=AlertKind.REGRESSIONS, limit=0, by=None
    ).rule
    AlertWatch.objects.all().delete()
    job_queue.run_waiting(dataset.team, FOLLOW_UP)
    assert AlertWatch.objects.get(rule=rule).series == "a"
    assert len(runs) == 4


def test_a_run_that_is_gone_needs_nothing(runs: list[Run]) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).delete()
    job_queue.run_waiting(runs[0].team, FOLLOW_UP)
    assert kinds(JobState.DONE) == [FOLLOW_UP] * 4
    assert kinds(JobState.WAITING) == []


def test_one_run_costs_few_queries(version: DatasetVersion, make_outputs: MakeOutputs) -> None:
    """It was three times as many while a run was measured before its command ended."""
    run = queued_run(make_outputs(version, ["yes"] * 4, series="a"))
    with CaptureQueriesContext(connection) as queries:
        run_to_end(run, InlineExecutor())
    assert len(queries) <= 60, [query["sql"] for query in queries]


def test_a_series_that_cannot_be_followed_up_harms_no_other(
    runs: list[Run],
    version: DatasetVersion,
    make_outputs: MakeOutputs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = queued_run(make_outputs(version, ["yes"] * 4, series="b"))
    run_to_end(other, InlineExecutor())
    called: list[str] = []

    def call(_: object, series: list[Run]) -> None:
        name = series[0].output_set.series
        if name == "a":
            Job.objects.create(team_id=other.team_id, kind=JobKind.COMPARE)
            raise OverflowError("too large")
        called.append(name)

    monkeypatch.setattr(follow_up, "call_hooks", call)
    job_queue.run_waiting(other.team, FOLLOW_UP)
    assert called == ["b"]
    assert kinds(JobState.DONE) == [FOLLOW_UP] * 5
    assert not Job.objects.filter(kind=JobKind.COMPARE).exists()  # what had begun is rolled back


@pytest.mark.parametrize("many", [4, 5])
def test_after_a_large_run_statistics_are_gathered(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """Else PostgreSQL plans as if the run had hardly any row."""
    gathered: list[type] = []
    monkeypatch.setattr(follow_up, "MANY_ROWS", many)
    monkeypatch.setattr(follow_up, "gather_statistics", lambda *of: gathered.extend(of))
    job_queue.run_waiting(runs[0].team, FOLLOW_UP)
    assert gathered == ([Score, CaseVerdict] if many == 4 else [])
