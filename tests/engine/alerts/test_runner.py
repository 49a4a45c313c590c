"""The worker's part: real workers, real kills, and a runner that nothing brings down."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.db import OperationalError
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.alerts import AlertRunner, delivery, runner, schedule_evaluations, tick
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import Alert, AlertDelivery, AlertWatch, DatasetVersion
from tests.engine.alerts.webhook_receiver import Receiver
from tests.support.database import link_database
from tests.support.fixtures.alert_rules import BAD, MakeRule, run_of, week
from tests.support.fixtures.sites import Site
from tests.support.thoroughness import KILLS
from tests.support.waiting import wait_until

SERIES = 12


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    with Receiver() as running:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({running.host})
        yield running


def start_worker(site: Site, receiver: Receiver) -> int:
    """The id of its process group, too."""
    key = site_settings.EVALSITE_ENCRYPTION_KEY
    environment = {"EVALSITE_ENCRYPTION_KEY": key, "EVALSITE_WEBHOOK_HOSTS": receiver.host}
    return site.start("worker", **environment).pid


@pytest.fixture
def another_site(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Another data folder over the same database: its worker does not see the first one's lock."""
    folder: Path = tmp_path_factory.mktemp("another")
    link_database(folder)
    made = Site(folder)
    yield made
    made.end()


def ids(receiver: Receiver) -> Counter[str]:
    return Counter(sent.headers["webhook-id"] for sent in receiver.sent)


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_loses_no_message_and_repeats_at_most_one(
    site: Site, version: DatasetVersion, make_rule: MakeRule, receiver: Receiver
) -> None:
    make_rule(series="a", webhook_url=receiver.url)
    schedule_evaluations([run_of(version, 1, BAD)])
    receiver.hangs.clear()
    worker = start_worker(site, receiver)
    wait_until(receiver.came.is_set)
    os.killpg(worker, signal.SIGKILL)
    wait_until(lambda: not site.members(worker))
    (delivery,) = AlertDelivery.objects.filter(channel="webhook")
    assert (delivery.state, delivery.try_count) == ("waiting", 1)
    receiver.hangs.set()
    AlertDelivery.objects.filter(state="waiting").update(next_try_at=timezone.now())  # time passes
    start_worker(site, receiver)
    wait_until(lambda: AlertDelivery.objects.filter(channel="webhook", state="sent").exists())
    assert list(ids(receiver).values()) == [2]
    assert len({sent.body for sent in receiver.sent}) == 1
    assert Alert.objects.count() == 1


@pytest.mark.kills
@pytest.mark.long("a worker is killed twice")
@pytest.mark.django_db(transaction=True)
def test_kills_at_any_moment_open_each_alert_once(
    site: Site, version: DatasetVersion, make_rule: MakeRule, receiver: Receiver
) -> None:
    make_rule(webhook_url=receiver.url)
    for number in range(SERIES):
        schedule_evaluations([run_of(version, 1, BAD, series=f"s{number}")])
    moments: list[Callable[[], object]] = [
        AlertWatch.objects.filter(evaluate_at__gt=timezone.now()).exists,  # a look is claimed
        lambda: len(receiver.sent) >= 1,
        Alert.objects.exists,
        lambda: len(receiver.sent) >= SERIES // 2,
    ]
    for moment in moments[:KILLS]:
        worker = start_worker(site, receiver)
        wait_until(moment)
        os.killpg(worker, signal.SIGKILL)
        wait_until(lambda group=worker: not site.members(group))  # type: ignore[misc]
        now = timezone.now()  # time passes
        AlertDelivery.objects.filter(state="waiting").update(next_try_at=now)
        AlertWatch.objects.exclude(evaluate_at=None).update(evaluate_at=now)
    start_worker(site, receiver)
    wait_until(
        lambda: AlertDelivery.objects.filter(channel="webhook", state="sent").count() == SERIES
    )
    assert Alert.objects.count() == SERIES
    assert len(ids(receiver)) == SERIES
    assert sum(ids(receiver).values()) <= SERIES + KILLS * runner.MAX_CONCURRENT


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_the_work(
    site: Site, another_site: Site, version: DatasetVersion, make_rule: MakeRule, receiver: Receiver
) -> None:
    make_rule(webhook_url=receiver.url)
    for number in range(SERIES):
        schedule_evaluations([run_of(version, 1, BAD, series=f"s{number}")])
    for each in (site, another_site):
        start_worker(each, receiver)
    wait_until(
        lambda: AlertDelivery.objects.filter(channel="webhook", state="sent").count() == SERIES
    )
    assert list(ids(receiver).values()) == [1] * SERIES
    assert Alert.objects.count() == SERIES
    assert "Traceback" not in site.log + another_site.log
    told = [json.loads(sent.body)["series"] for sent in receiver.sent]
    assert sorted(told) == sorted(f"s{number}" for number in range(SERIES))


def test_the_runner_does_all_that_is_due(
    version: DatasetVersion, make_rule: MakeRule, receiver: Receiver
) -> None:
    make_rule(series="a", webhook_url=receiver.url)
    schedule_evaluations([run_of(version, 1, BAD)])
    alerts = AlertRunner(InlineExecutor())
    for _ in range(3):
        alerts.step()
    alerts.stop()
    assert len(receiver.sent) == 1


@pytest.mark.parametrize("target", ["tick", "send"])
def test_a_database_that_cannot_be_written_stops_no_worker(
    version: DatasetVersion,
    make_rule: MakeRule,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    target: str,
) -> None:
    make_rule(series="a", webhook_url=receiver.url)
    week(version, 1, BAD)

    def fails(*_: Any) -> None:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(*((runner, "tick") if target == "tick" else (delivery, "deliver")), fails)
    alerts = AlertRunner(InlineExecutor())
    for _ in range(3):
        alerts.step()
    assert "alerts: disk I/O error" in caplog.text


class Held:
    """An executor whose tasks end when a test says so."""

    processes = 9

    def __init__(self) -> None:
        self.tasks: list[tuple[Callable[..., Any], Future[Any]]] = []

    def submit(self, function: Callable[..., Any], *_: Any) -> Future[Any]:
        self.tasks.append((function, Future()))
        return self.tasks[-1][1]

    def restart(self) -> None:
        pass

    def count(self, function: Callable[..., Any]) -> int:
        return sum(task is function for task, _ in self.tasks)


def test_a_slow_receiver_holds_up_neither_ticks_nor_the_worker(
    version: DatasetVersion,
    make_rule: MakeRule,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "TICK_SECONDS", 0)
    make_rule(webhook_url=receiver.url)
    for number in range(runner.MAX_CONCURRENT + 3):
        week(version, 1, BAD, series=f"s{number}")
    held = Held()
    alerts = AlertRunner(held)
    for _ in range(5):
        alerts.step()
    assert held.count(delivery.deliver) == runner.MAX_CONCURRENT
    assert held.count(tick) == 1
    held.tasks[0][1].set_result(0)  # the tick
    alerts.step()
    assert held.count(tick) == 2
    held.tasks[1][1].set_result(True)  # the first message
    alerts.step()
    assert held.count(delivery.deliver) == runner.MAX_CONCURRENT + 1


def test_stopping_waits_a_moment_for_messages(
    version: DatasetVersion,
    make_rule: MakeRule,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "STOP_SECONDS", 0.1)
    make_rule(series="a", webhook_url=receiver.url)
    week(version, 1, BAD)
    alerts = AlertRunner(Held())
    alerts.step()
    begun = time.monotonic()
    alerts.stop()
    assert time.monotonic() - begun >= 0.1
