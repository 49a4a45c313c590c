from __future__ import annotations

import socket
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.models import Run
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
    return f"{socket.gethostname()}:{process.pid}"


@pytest.mark.parametrize(
    ("by", "seconds", "free"),
    [
        ("elsewhere:1", 20, False),
        ("elsewhere:1", -1, True),
        (f"{socket.gethostname()}:1", 20, False),  # process 1 lives on every machine
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
    first = run.lease_expires_at
    assert first is not None
    assert 29 < (first - timezone.now()).total_seconds() <= 30
    assert lease.renew(run)
    assert run.lease_expires_at is not None
    assert run.lease_expires_at > first


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
