"""`manage.py worker`: exactly one a data folder, unless a broker shares the work out."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from scoring.engine.runs.progress import run_progress
from scoring.models import Run, RunState, Worker
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.waiting import DEADLINE_SECONDS, wait_until


def test_a_second_worker_says_so_and_ends_with_2(site: Site) -> None:
    first = site.start("worker")
    wait_until(Worker.objects.exists)
    second = site.start("worker")
    assert second.wait(DEADLINE_SECONDS) == 2
    assert "another worker works on this data folder" in site.log
    assert first.poll() is None


def test_it_takes_the_work_that_it_is_told_to(
    site: Site, make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes"], make_scorer("exact_match"))
    worker = site.start("worker", "--queues", "judges, jobs")
    wait_until(Worker.objects.exists)
    row = Worker.objects.get()
    assert (row.queues, row.process_count) == (["jobs", "judges"], 0)
    lacking = "no worker that takes scoring: start `manage.py worker --queues scoring`"
    assert run_progress(run).cause == lacking
    worker.terminate()
    assert worker.wait(DEADLINE_SECONDS) == 0
    site.start("worker", "--queues", "scoring")
    wait_until(lambda: Run.objects.get().state == RunState.FINISHED)


@pytest.mark.parametrize("names", ["", ",", "scorers", "jobs,mail"])
def test_it_refuses_work_of_another_name(names: str) -> None:
    with pytest.raises(CommandError, match="scoring, judges, embeddings, imports, jobs"):
        call_command("worker", f"--queues={names}")


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("broker", "said"),
    [("", "name it in CELERY_BROKER_URL"), ("redis://localhost", "DATABASE_URL")],
)
def test_celery_needs_a_broker_and_postgresql(
    settings: Settings, db: None, broker: str, said: str
) -> None:
    settings.EVALSITE_BROKER_URL = broker
    with pytest.raises(CommandError, match=said):
        call_command("worker", celery=True)
