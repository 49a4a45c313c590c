"""A worker's loop that waits for nothing, and a run that something comes between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.worker import main as worker_main
from scoring.engine.worker.main import WorkerLoop
from scoring.models import Run, RunState, Score
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.waiting import wait_until

Interrupt = Callable[[AbstractContextManager[None], int], None]


@pytest.fixture
def work(threads: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> WorkerLoop:
    for name in ("LOCKED_SECONDS", "IDLE_CHECK_SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(worker_main, name, 0)
    monkeypatch.setattr("scoring.engine.worker.shard_scheduler.PAUSE_SECONDS", 0)
    return WorkerLoop(InlineExecutor(), threads, InlineExecutor())


@pytest.fixture
def interrupt_run(
    work: WorkerLoop, make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> Interrupt:
    """Interrupts a run of three shards after so many rounds, and sees it finished afterwards."""
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)

    def interrupt(interruption: AbstractContextManager[None], rounds: int) -> None:
        run = make_run(["yes", "no", "yes", "no", "yes"], make_scorer("exact_match"))
        for _ in range(rounds):
            work.try_round()
        with interruption:
            for _ in range(3):
                work.try_round()

        def is_finished_after_a_round() -> bool:
            work.try_round()
            return Run.objects.get(pk=run.pk).state == RunState.FINISHED

        wait_until(is_finished_after_a_round)
        assert Score.objects.filter(scorer__run=run).count() == 5

    return interrupt
