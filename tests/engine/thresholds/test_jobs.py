"""The last runs of a suite are re-labelled by the worker."""

from __future__ import annotations

import pytest

from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.thresholds.jobs import enqueue_relabelling, latest_job
from scoring.models import Job, JobState, Run, User
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(make_dataset: MakeDataset) -> list[Run]:
    """Two of the suite `release`, whose threshold has changed since."""
    version = make_dataset([{}] * 2)
    made = [suite_run(version, {"close": [0.6, 0.8]}, name=name) for name in ("w45", "w46")]
    entry_of().change_threshold(0.7, by=None, reason="x")
    return made


def work() -> None:
    runner = JobRunner(InlineExecutor())
    runner.step()
    runner.step()  # collects what the first one began


def test_the_worker_relabels_them_in_the_name_of_who_asked(runs: list[Run], alice: User) -> None:
    job = enqueue_relabelling(entry_of().suite, alice)
    assert enqueue_relabelling(entry_of().suite, alice) == job
    work()
    job.refresh_from_db()
    assert (job.state, job.answer) == (JobState.DONE, {"relabelled": 2, "removed": 0})
    assert latest_job(entry_of().suite) == job
    assert [run.relabels.get().created_by for run in runs] == [alice, alice]


def test_a_second_time_changes_nothing(runs: list[Run]) -> None:
    for _ in range(2):
        job = enqueue_relabelling(entry_of().suite, None)
        work()
    job.refresh_from_db()
    assert job.answer == {"relabelled": 0, "removed": 0}
    assert [run.relabels.count() for run in runs] == [1, 1]


def test_a_suite_that_is_gone_is_said(runs: list[Run]) -> None:
    job = enqueue_relabelling(entry_of().suite, None)
    Job.objects.update(request={"suite": str(runs[0].uuid)})
    work()
    job.refresh_from_db()
    assert (job.state, job.problem) == (JobState.FAILED, "the suite is no longer there")
