from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from billiard.exceptions import TimeLimitExceeded
from celery.exceptions import Retry
from django.db import OperationalError
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.worker import celery_tasks
from scoring.engine.worker.celery_tasks import MAX_STARTS, score_shard
from scoring.engine.worker.shard_scheduler import NOT_STORED, PAUSE_SECONDS
from scoring.models import Run, RunState, Score, Shard
from tests.support.fixtures.runs import RunOfYes
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def shard(run_of_yes: RunOfYes) -> Shard:
    """The only shard of a run that was planned."""
    planning.plan_attempt(run_of_yes(2))
    return Shard.objects.get()


def lease_to(owner: str, seconds: int = 20) -> None:
    until = timezone.now() + timedelta(seconds=seconds)
    Shard.objects.update(lease_owner=owner, lease_expires_at=until)


def failing(fault: Exception) -> Callable[[int], None]:
    def fail(_: int) -> None:
        raise fault

    return fail


def test_a_message_that_comes_twice_is_worked_on_once(shard: Shard) -> None:
    score_shard(shard.pk)
    score_shard(shard.pk)
    shard.refresh_from_db()
    assert (shard.start_count, shard.lease_owner) == (1, lease.own_name())
    assert shard.done_at
    assert Score.objects.count() == 2


def test_a_shard_that_was_deleted_is_none(shard: Shard) -> None:
    score_shard(shard.pk + 1)


def test_a_message_of_a_run_that_has_ended_does_nothing(shard: Shard) -> None:
    Run.objects.update(state=RunState.CANCELLED)
    score_shard(shard.pk)
    shard.refresh_from_db()
    assert (shard.start_count, shard.done_at) == (0, None)


@pytest.mark.parametrize(("owner", "scores"), [("elsewhere:1", 0), ("here", 0), ("gone", 2)])
def test_what_another_living_process_scores_is_left_to_it(
    shard: Shard, owner: str, scores: int
) -> None:
    pid = os.getppid()
    if owner == "gone":
        with subprocess.Popen(["true"]) as process:
            pid = process.pid
    lease_to(owner if ":" in owner else f"{lease.machine_name()}:{pid}")
    score_shard(shard.pk)
    assert Score.objects.count() == scores


def test_a_lease_that_ran_out_is_taken_over(shard: Shard) -> None:
    lease_to("elsewhere:1", seconds=-1)
    score_shard(shard.pk)
    assert Score.objects.count() == 2


def test_a_fault_is_told_and_the_shard_is_free_again(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(celery_tasks, "execute_shard", failing(ValueError("odd\0")))
        score_shard(shard.pk)
    shard.refresh_from_db()
    assert (shard.fault, shard.lease_owner, shard.done_at) == ("ValueError: odd\ufffd", "", None)
    score_shard(shard.pk)
    shard.refresh_from_db()
    assert (shard.fault, shard.start_count, shard.done_at is None) == ("", 2, False)


def test_what_cannot_be_stored_is_left_to_the_dispatcher(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as it takes: no process has died."""
    full = OperationalError("could not extend file")
    monkeypatch.setattr(celery_tasks, "execute_shard", failing(full))
    for _ in range(MAX_STARTS + 1):
        score_shard(shard.pk)
    shard.refresh_from_db()
    assert (shard.fault, shard.lease_owner, shard.start_count) == (NOT_STORED, "", 0)
    assert shard.done_at is None


def test_a_shard_that_was_stored_after_all_keeps_no_fault(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the connection is lost, the database may have committed."""

    def store_and_fail(shard_id: int) -> None:
        execute_shard(shard_id)
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(celery_tasks, "execute_shard", store_and_fail)
    monkeypatch.setattr(score_shard, "retry", lambda **_: Retry())
    with pytest.raises(Retry):
        score_shard(shard.pk)
    shard.refresh_from_db()
    assert shard.done_at
    assert shard.fault == ""
    score_shard(shard.pk)
    assert Score.objects.count() == 2


@pytest.mark.parametrize("step", ["lease.acquire", "execute_shard"])
def test_a_database_out_of_reach_is_nobodys_fault(
    shard: Shard, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Celery tries again a little later."""
    fault = OperationalError("database is locked")

    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(f"scoring.engine.worker.celery_tasks.{step}", fail)
    if step == "execute_shard":
        monkeypatch.setattr(celery_tasks, "_leave", fail)
    asked: list[dict[str, Any]] = []

    def retry(**how: Any) -> Exception:
        asked.append(how)
        return Retry()

    monkeypatch.setattr(score_shard, "retry", retry)
    with pytest.raises(Retry):
        score_shard(shard.pk)
    assert asked == [{"exc": fault, "countdown": PAUSE_SECONDS}]
    shard.refresh_from_db()
    assert shard.fault == ""


def test_a_shard_whose_process_dies_again_and_again_is_closed(shard: Shard) -> None:
    Shard.objects.update(start_count=MAX_STARTS)
    score_shard(shard.pk)
    shard.refresh_from_db()
    assert shard.done_at
    reason = f"the process that scored it died, {MAX_STARTS} times"
    assert set(Score.objects.values_list("code", "reason")) == {("worker_crashed", reason)}


@pytest.mark.django_db(transaction=True)
def test_a_shard_whose_process_was_ended_is_closed(shard: Shard, threads: ThreadPool) -> None:
    for number in (shard.pk + 1, shard.pk):  # the first is gone
        end = TimeLimitExceeded(900)
        threads.submit(score_shard.on_failure, end, "", (number,), {}, None).result()
    reason = "its shard was not scored within 15 minutes"
    assert set(Score.objects.values_list("code", "reason")) == {("too_slow", reason)}


@pytest.mark.django_db(transaction=True)
def test_a_shard_that_cannot_be_closed_is_left_to_its_lease(
    shard: Shard,
    threads: ThreadPool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("the server is gone")

    monkeypatch.setattr(celery_tasks, "fail_shard", fail)
    end = TimeLimitExceeded(900)
    threads.submit(score_shard.on_failure, end, "", (shard.pk,), {}, None).result()
    assert f"shard {shard.pk}, which took too long, is not closed" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_meanwhile(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)

    def wait_for_renewal(_: int) -> None:
        first = Shard.objects.get().lease_expires_at
        wait_until(lambda: Shard.objects.get().lease_expires_at != first)

    monkeypatch.setattr(celery_tasks, "execute_shard", wait_for_renewal)
    score_shard(shard.pk)
    assert Shard.objects.get().lease_owner == lease.own_name()
