"""The runner of uploads: what the death of a reading process costs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.models.functions import Now

from scoring.engine import imports
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.worker.upload_runner import UploadRunner
from scoring.models import Upload, UploadState, Worker
from scoring.models.job import MAX_TRIES
from tests.support.fixtures.uploads import Put, assert_nothing_is_left, put, spooled

__all__ = ["put", "spooled"]

ROWS = b"id,input\n1,a\n"


class Dying(InlineExecutor):
    """A pool whose process dies on what it is given, and as often before it is given anything."""

    def __init__(
        self, *, on_work: int = 0, idle: int = 0, fault: type[Exception] = BrokenProcessPool
    ) -> None:
        self.on_work, self.idle, self.fault = on_work, idle, fault
        self.restarts = 0

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if self.idle:
            raise BrokenProcessPool
        if self.on_work:
            self.on_work -= 1
            future: Future[Any] = Future()
            future.set_exception(self.fault())
            return future
        return super().submit(function, *args)

    def restart(self) -> None:
        self.restarts += 1
        self.idle = max(0, self.idle - 1)


@pytest.fixture
def waiting(put: Put) -> Upload:
    """An upload whose file waits to be looked at."""
    upload = put(ROWS)
    assert imports.request_check(upload, {})
    return upload


def work_through(pool: Dying, upload: Upload) -> Upload:
    runner = UploadRunner(pool, lambda: None)
    for _ in range(2 * MAX_TRIES):  # each try is begun in one step and settled in the next
        runner.step()
    upload.refresh_from_db()
    return upload


@pytest.mark.django_db
def test_nothing_is_cleaned_while_the_site_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for it would cost a tenth of what starting the site does."""
    cleaned: list[float] = []
    now = [1_000.0]
    monkeypatch.setattr("scoring.engine.worker.upload_runner.time.monotonic", lambda: now[0])
    runner = UploadRunner(InlineExecutor(), lambda: cleaned.append(now[0]))
    for _ in range(200):
        runner.step()
        now[0] += 1.0
    assert cleaned == [1_061.0, 1_122.0, 1_183.0]


def test_a_file_that_came_in_elsewhere_is_left_to_the_worker_there(
    waiting: Upload, spooled: Path
) -> None:
    for file in spooled.iterdir():
        file.unlink()
    Worker.objects.create(name="elsewhere:1", started_at=Now(), seen_at=Now())
    left = work_through(Dying(), waiting)
    assert (left.state, left.lease_owner, left.problems) == (UploadState.CHECKING, "", [])
    Worker.objects.all().delete()
    (problem,) = work_through(Dying(), waiting).problems
    assert problem["code"] == "file_gone"


def test_a_process_that_died_idle_costs_nothing(waiting: Upload) -> None:
    pool = Dying(idle=1)
    assert work_through(pool, waiting).state == UploadState.CHECKED
    assert (pool.restarts, waiting.lease_owner, waiting.problems) == (1, "", [])


def test_two_deaths_are_forgiven(waiting: Upload) -> None:
    pool = Dying(on_work=MAX_TRIES - 1)
    assert work_through(pool, waiting).state == UploadState.CHECKED
    assert (pool.restarts, waiting.problems) == (2, [])


def test_a_database_out_of_reach_is_no_fault_of_the_file(waiting: Upload) -> None:
    """The cause of an error is lost on its way from the process that reads."""
    pool = Dying(on_work=MAX_TRIES, fault=OperationalError)
    assert work_through(pool, waiting).state == UploadState.CHECKED
    assert (pool.restarts, waiting.problems) == (MAX_TRIES, [])


def test_a_file_that_kills_thrice_has_failed_and_leaves_nothing(
    waiting: Upload, spooled: Path
) -> None:
    pool = Dying(on_work=MAX_TRIES)
    assert work_through(pool, waiting).state == UploadState.FAILED
    assert (pool.restarts, waiting.lease_owner) == (MAX_TRIES, "")
    assert [problem["code"] for problem in waiting.problems] == ["worker_crashed"]
    imports.remove_abandoned()
    assert_nothing_is_left(spooled)
