from __future__ import annotations

import ctypes
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from scoring.engine.processes import memory
from scoring.engine.processes.memory import Memory
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.worker.main import WorkerLoop
from scoring.engine.worker.upload_runner import UploadRunner
from tests.support.fixtures.runs import MakeRun, MakeScorer


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096 / 1024**2


@pytest.mark.django_db
@pytest.mark.skipif(
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")), reason="glibc"
)
def test_what_was_freed_goes_back_to_the_system() -> None:
    """Blocks that lie below one still in use: the allocator keeps them unless it is asked."""
    blocks = [ctypes.create_string_buffer(100_000) for _ in range(600)]
    for block in blocks:
        ctypes.memset(block, 1, 100_000)
    last = blocks.pop()
    before = resident_mb()
    del block, blocks
    memory.release()
    assert before - resident_mb() > 40
    del last


def test_it_is_released_once_after_a_stretch_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    now, releases = [0.0], []
    monkeypatch.setattr(memory.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory, "release", lambda: releases.append(now[0]))
    kept = Memory()
    for second in range(200):
        now[0] = float(second)
        if second == 20:
            kept.is_used()
        kept.release_when_idle()
    assert releases == [50.0]


class Restarted(InlineExecutor):
    def __init__(self) -> None:
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1


@pytest.mark.django_db(transaction=True)
def test_processes_of_a_pool_end_once_the_worker_is_idle(
    make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr("scoring.engine.worker.main.POLL_SECONDS", 0.01)
    scoring, reading = Restarted(), Restarted()
    work = WorkerLoop(scoring, ThreadPool(), reading)
    make_run(["yes"], make_scorer("exact_match"))
    work.try_round()
    assert (scoring.restarts, reading.restarts) == (0, 0)
    for _ in range(5):
        work.try_round()
    assert (scoring.restarts, reading.restarts) == (1, 1)


def test_a_process_that_reads_a_file_is_left_alone() -> None:
    reading = Restarted()
    runner = UploadRunner(reading, lambda: None)
    runner._cleaning = Future()
    runner.end_idle_process()
    assert reading.restarts == 0
