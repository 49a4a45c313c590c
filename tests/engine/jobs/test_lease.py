from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.models import Run, RunState
from tests.support.fixtures.runs import RunOfYes

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(run_of_yes: RunOfYes) -> Run:
    return run_of_yes(1)


def held(run: Run, by: str, seconds: float) -> Run:
    until = timezone.now() + timedelta(seconds=seconds)
    Run.objects.filter(pk=run.pk).update(lease_owner=by, lease_expires_at=until)
    return Run.objects.get(pk=run.pk)


def ended_process() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{lease.machine_name()}:{process.pid}"


@pytest.mark.parametrize(
    ("by", "seconds", "free"),
    [
        ("elsewhere:1", 20, False),
        ("elsewhere:1", -1, True),
        (f"{lease.machine_name()}:1", 20, False),  # process 1 lives on every machine
        ("elsewhere:1", 3600, True),  # from before a clock was set back
        ("", 20, True),
        ("nonsense", 20, False),
    ],
)
def test_who_may_take_a_run(run: Run, by: str, seconds: float, free: bool) -> None:
    assert lease.acquire(held(run, by, seconds)) is free
    assert (Run.objects.get().lease_owner == lease.own_name()) is free


def test_the_run_of_an_ended_process_of_this_machine_is_free_at_once(run: Run) -> None:
    assert lease.acquire(held(run, ended_process(), 20))


def test_a_run_leased_in_our_own_name_is_free(run: Run) -> None:
    """A restarted container may get its former pid."""
    assert lease.acquire(held(run, lease.own_name(), 20))


def test_of_two_that_saw_it_free_only_one_gets_it(run: Run) -> None:
    seen_by_us = Run.objects.get()
    held(run, "elsewhere:1", 20)
    assert not lease.acquire(seen_by_us)
    assert Run.objects.get().lease_owner == "elsewhere:1"


def test_a_hold_lasts_thirty_seconds_and_is_renewed(run: Run) -> None:
    lease.acquire(run)
    first = Run.objects.get().lease_expires_at
    assert first is not None
    assert 29 < (first - timezone.now()).total_seconds() <= 30
    Run.objects.update(lease_expires_at=first - timedelta(seconds=10))
    assert lease.renew(run)
    assert (Run.objects.get().lease_expires_at or first) >= first


@pytest.mark.parametrize("hours", [-1, 1])
def test_the_clock_of_a_machine_does_not_matter(
    run: Run, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(run, "elsewhere:1", 20)
    wrong = timezone.now() + timedelta(hours=hours)
    monkeypatch.setattr("django.utils.timezone.now", lambda: wrong)
    assert not lease.acquire(Run.objects.get())
    assert Run.objects.filter(lease.is_current()).exists()
    Run.objects.update(lease_owner="", lease_expires_at=None)
    assert lease.acquire(Run.objects.get())
    until = Run.objects.get().lease_expires_at
    assert until is not None
    assert abs((until - wrong).total_seconds()) > 3_000


def test_what_another_process_has_ended_since_is_not_taken(run: Run) -> None:
    seen_by_us = Run.objects.get()
    Run.objects.update(state=RunState.FINISHED)
    assert not lease.acquire(seen_by_us)


def test_a_process_of_another_machine_of_this_name_is_not_taken_for_dead() -> None:
    dead = ended_process()
    assert lease.is_dead(dead)
    pid = dead.rpartition(":")[2]
    assert not lease.is_dead(f"{socket.gethostname()[:48]}/{'0' * 12}:{pid}")


def test_a_machine_is_told_by_its_start_and_its_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {lease.machine_name()}
    for space in ("boot 1 pid:[1]", "boot 2 pid:[1]", "boot 1 pid:[2]"):
        monkeypatch.setattr(lease, "_number_space", lambda space=space: space)
        names.add(lease.machine_name.__wrapped__())
    assert len(names) == 4


def test_a_name_fits_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 255)
    name = f"{lease.machine_name.__wrapped__()}:{2**22}"
    assert len(name) <= 80
    assert os.getpid() < 2**22


def test_a_hold_that_another_process_took_over_is_neither_renewed_nor_released(run: Run) -> None:
    lease.acquire(run)
    held(run, "elsewhere:1", 20)
    assert not lease.renew(run)
    lease.release(run)
    assert Run.objects.get().lease_owner == "elsewhere:1"


def test_a_released_run_is_free(run: Run) -> None:
    lease.acquire(run)
    lease.release(run)
    fresh = Run.objects.get()
    assert (fresh.lease_owner, fresh.lease_expires_at) == ("", None)
