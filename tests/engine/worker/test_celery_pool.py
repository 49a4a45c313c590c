"""Shards that are sent through a broker, and what their rows tell of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.services.team_services import RunStoppedError
from scoring.engine.worker import celery_pool
from scoring.engine.worker.celery_pool import BROKER_LOST, RESEND_SECONDS, CeleryPool
from scoring.engine.worker.shard_scheduler import NOT_STORED, NotStoredError, ShardError
from scoring.models import Run, RunState, Shard
from tests.support.fixtures.runs import RunOfYes

pytestmark = pytest.mark.django_db


class Sent:
    """A task that is only sent. With a fault the broker is out of reach."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.fault: Exception | None = None

    def apply_async(self, args: tuple[int], **_: Any) -> None:
        if self.fault:
            raise self.fault
        self.ids.extend(args)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(celery_pool.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    task = Sent()
    monkeypatch.setattr(celery_pool, "_TASKS", {execute_shard: task})
    return task


@pytest.fixture
def shard(run_of_yes: RunOfYes) -> Shard:
    planning.plan_attempt(run_of_yes(2))
    return Shard.objects.get()


def lease(seconds: int) -> None:
    until = timezone.now() + timedelta(seconds=seconds)
    Shard.objects.update(lease_owner="elsewhere:1", lease_expires_at=until)


def test_a_shard_is_sent_once_and_ends_when_it_is_done(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    pool = CeleryPool()
    future = pool.submit(execute_shard, shard.pk)
    for _ in range(3):
        pool.look()
    assert (sent.ids, future.done()) == ([shard.pk], False)
    execute_shard(shard.pk)
    pool.look()
    assert future.result(0) is None


def test_a_message_that_nobody_begins_with_is_sent_again(
    shard: Shard, sent: Sent, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    pool = CeleryPool()
    pool.submit(execute_shard, shard.pk)
    pool.look()
    clock[0] += RESEND_SECONDS + 1
    sent.fault = BrokerError("gone")
    for _ in range(3):
        pool.look()
    assert "sent again" not in caplog.text
    clock[0] += celery_pool.BROKER_SECONDS
    sent.fault = None
    pool.look()
    pool.look()
    assert sent.ids == [shard.pk] * 2
    assert caplog.text.count("was sent again") == 1


def test_one_that_is_being_scored_is_not_however_long_it_takes(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    pool = CeleryPool()
    pool.submit(execute_shard, shard.pk)
    pool.look()
    lease(20)
    clock[0] += 10 * RESEND_SECONDS
    pool.look()
    assert sent.ids == [shard.pk]


def test_one_whose_lease_ran_out_is_sent_again_at_once(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    pool = CeleryPool()
    pool.submit(execute_shard, shard.pk)
    pool.look()
    for seconds in (20, -1):
        lease(seconds)
        pool.look()
    assert sent.ids == [shard.pk] * 2


def test_a_fault_is_the_futures_and_does_not_last(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    pool = CeleryPool()
    future = pool.submit(execute_shard, shard.pk)
    pool.look()
    Shard.objects.update(fault="ValueError: odd")
    pool.look()
    fault = future.exception(0)
    assert isinstance(fault, ShardError)
    assert fault.text == "ValueError: odd"
    again = pool.submit(execute_shard, shard.pk)
    pool.look()
    pool.look()
    assert (sent.ids, again.done()) == ([shard.pk] * 2, False)


def test_what_could_not_be_stored_is_no_fault_of_the_scorers(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    pool = CeleryPool()
    future = pool.submit(execute_shard, shard.pk)
    pool.look()
    Shard.objects.update(fault=NOT_STORED)
    pool.look()
    assert isinstance(future.exception(0), NotStoredError)


def test_shards_of_a_run_that_has_ended_are_not_waited_for(
    shard: Shard, sent: Sent, clock: list[float]
) -> None:
    """Those that are being scored are."""
    pool = CeleryPool()
    future = pool.submit(execute_shard, shard.pk)
    pool.look()
    Run.objects.update(state=RunState.CANCELLING)
    lease(20)
    pool.look()
    assert not future.done()
    lease(-1)
    pool.look()
    assert isinstance(future.exception(0), RunStoppedError)


def test_a_run_that_was_deleted_is_done_with(shard: Shard, sent: Sent, clock: list[float]) -> None:
    pool = CeleryPool()
    future = pool.submit(execute_shard, shard.pk)
    Shard.objects.all().delete()
    pool.look()
    assert future.result(0) is None


@pytest.mark.parametrize("fault", [BrokerError("gone"), ConnectionRefusedError()])
def test_a_broker_out_of_reach_is_told_and_tried_again(
    shard: Shard, sent: Sent, clock: list[float], fault: Exception
) -> None:
    pool = CeleryPool()
    pool.submit(execute_shard, shard.pk)
    sent.fault = fault
    for _ in range(3):
        pool.look()
    assert pool.stall_reason == BROKER_LOST
    sent.fault = None
    pool.look()
    assert sent.ids == []  # it is not asked at every look
    clock[0] += celery_pool.BROKER_SECONDS
    pool.look()
    assert (sent.ids, pool.stall_reason) == ([shard.pk], "")
