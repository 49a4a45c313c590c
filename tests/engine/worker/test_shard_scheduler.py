"""Runs that ask services and runs that do not, side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from scoring.core.services import CallFailure
from scoring.engine.processes.process_pool import InlineExecutor, ProcessPool
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning, requirements
from scoring.engine.runs.progress import run_progress
from scoring.engine.worker import run_dispatcher, shard_scheduler
from scoring.engine.worker.run_dispatcher import RunDispatcher, run_to_end
from scoring.engine.worker.shard_scheduler import ShardScheduler
from scoring.models import ModelCall, Run, RunState, Score, Shard
from tests.engine.judge_doubles import Model, model
from tests.engine.odd_scorers import endless
from tests.support.fixtures.runs import MakeRun, MakeScorer, RunOfYes, rows_of, verdicts_of
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["model"]

TEXTS = [f"{n / 1000:g}" for n in range(1, 11)]
SCORES = [0.001, 0.01, *(n / 1000 for n in range(2, 10))]  # case-1, case-10, case-2 and so on


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(planning.SMALLER_SHARDS, "llm", 2)
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 4)


class Watched(InlineExecutor):
    """An executor that remembers the runs whose shards it was given."""

    def __init__(self, asked: list[str], name: str) -> None:
        self.asked, self.name = asked, name

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        run = Shard.objects.get(pk=args[0]).attempt.run
        self.asked.append(f"{run.name} in {self.name}")
        return super().submit(function, *args)


@pytest.mark.django_db
class TestPlaces:
    @pytest.mark.parametrize(
        ("kinds", "place"),
        [
            (["exact_match"], "pool"),
            (["verdict"], "threads"),
            (["exact_match", "verdict"], "threads"),
            (["nested"], "threads"),
            (["reference_match"], "threads"),
        ],
    )
    def test_runs_that_ask_go_to_the_threads(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, kinds: list[str], place: str
    ) -> None:
        inside = [{"type": "all", "config": {"scorers": [{"type": "verdict"}]}}]
        configs: dict[str, Any] = {"nested": {"scorers": inside}}
        scorers = [
            make_scorer("any" if kind == "nested" else kind, kind, **configs.get(kind, {}))
            for kind in kinds
        ]
        make_run([None], *scorers)
        asked: list[str] = []
        dispatcher = RunDispatcher(Watched(asked, "pool"), Watched(asked, "threads"))
        dispatcher.take_waiting()
        while not dispatcher.is_idle:
            dispatcher.step(0)
        assert asked == [f"first in {place}"]

    def test_their_shards_are_smaller(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model
    ) -> None:
        for kind in ("exact_match", "verdict"):
            planning.plan_attempt(make_run(TEXTS, make_scorer(kind)))
        counts = Shard.objects.order_by("pk").values_list("output_count", flat=True)
        assert list(counts) == [4, 4, 2, 2, 2, 2, 2, 2]

    def test_a_type_that_is_gone_asks_nobody(self) -> None:
        assert requirements.scorer_families("was_here", {}) == set()


@pytest.mark.django_db(transaction=True)
class TestThreads:
    @pytest.fixture
    def threads(self) -> Iterator[ThreadPool]:
        with ThreadPool(3) as threads:
            yield threads

    def test_two_asking_runs_and_a_plain_one_at_once(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, threads: ThreadPool
    ) -> None:
        judge, plain = make_scorer("verdict"), make_scorer("exact_match")
        runs = [
            make_run(TEXTS, judge, name="a"),
            make_run(["1"] * 9, judge, plain, name="b"),
            make_run(["yes", "no"] * 5, plain, name="c"),
        ]
        dispatcher = RunDispatcher(InlineExecutor(), threads)
        dispatcher.take_waiting()
        while not dispatcher.is_idle:
            dispatcher.step(0.1)
        assert {Run.objects.get(pk=run.pk).state for run in runs} == {"finished"}
        assert [row[4] for row in rows_of(runs[0])] == SCORES
        assert [len(rows_of(run)) for run in runs] == [10, 18, 10]
        assert sorted(set(model.asked)) == sorted({*TEXTS, "1"})

    def test_several_shards_are_asked_about_at_once(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, threads: ThreadPool
    ) -> None:
        meeting = threading.Barrier(3)
        firsts = {TEXTS[0], TEXTS[2], TEXTS[4]}
        model.on_asked = lambda text: text in firsts and meeting.wait(DEADLINE_SECONDS)
        run = make_run(TEXTS, make_scorer("verdict"))
        run_to_end(run, threads)
        assert (run.state, meeting.broken, len(model.asked)) == ("finished", False, 10)

    def test_a_plain_run_does_not_wait_for_a_model(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, threads: ThreadPool
    ) -> None:
        model.may_answer.clear()
        slow = make_run(TEXTS, make_scorer("verdict"))
        quick = make_run(["yes"] * 20, make_scorer("exact_match"))
        dispatcher = RunDispatcher(InlineExecutor(), threads)
        dispatcher.take_waiting()
        while Run.objects.get(pk=quick.pk).state != RunState.FINISHED:
            dispatcher.step(0)
        assert verdicts_of(slow) == []
        model.may_answer.set()
        while not dispatcher.is_idle:
            dispatcher.step(0.1)
        assert len(verdicts_of(slow)) == 10

    def test_a_cancelled_run_keeps_what_was_paid_and_goes_on_from_there(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, threads: ThreadPool
    ) -> None:
        run = make_run(TEXTS, make_scorer("verdict"))

        def cancel_at_the_fifth(_: str) -> None:
            if len(model.asked) == 5:
                planning.cancel_run(Run.objects.get(), by=None)
            if len(model.asked) >= 5:
                wait_until(lambda: model.callers[0].is_stopped)

        model.on_asked = cancel_at_the_fifth
        run_to_end(run, threads)
        assert run.state == "cancelled"
        asked = list(model.asked)
        assert 5 <= len(asked) < 10
        assert (ModelCall.objects.count(), run.judge_calls) == (len(asked), len(asked))
        assert not Score.objects.filter(code="cancelled").exists()
        model.on_asked = lambda _: None
        planning.resume_run(run, by=None)
        run_to_end(run, threads)
        assert (run.state, sorted(model.asked)) == ("finished", sorted(TEXTS))
        assert [row[4] for row in rows_of(run)] == SCORES

    def test_a_stopping_worker_leaves_its_shards_open(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model, threads: ThreadPool
    ) -> None:
        model.may_answer.clear()
        run = make_run(TEXTS, make_scorer("verdict"))
        dispatcher = RunDispatcher(InlineExecutor(), threads)
        dispatcher.take_waiting()
        dispatcher.step(0)
        wait_until(lambda: len(model.asked) == 3)
        dispatcher.stop(seconds=0)
        model.may_answer.set()
        wait_until(lambda: ModelCall.objects.count() == 3)
        run.refresh_from_db()
        assert (run.state, run.lease_owner, len(model.asked)) == ("running", "", 3)
        run_to_end(run, threads)
        assert (run.state, sorted(model.asked)) == ("finished", sorted(TEXTS))


@pytest.mark.django_db
class TestStandstill:
    def test_the_cause_is_told_while_it_lasts(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        model: Model,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(run_dispatcher, "REPORT_SECONDS", 0.0)
        run = make_run(TEXTS[:8], make_scorer("verdict"))
        dispatcher = RunDispatcher(InlineExecutor())
        dispatcher.take_waiting()
        causes = []
        for standstill in ("", "rate-limited until 14:05", "rate-limited until 14:05", ""):
            model.stall_reason = standstill
            dispatcher.step(0)
            causes.append(run_progress(Run.objects.get(pk=run.pk)).cause)
        # Each step tells what stood still before it handed out a shard.
        assert causes == [None, "rate-limited until 14:05", "rate-limited until 14:05", None]
        assert Run.objects.get().state == RunState.FINISHED

    def test_a_run_that_is_let_go_of_stands_still_for_other_reasons(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model
    ) -> None:
        run = make_run(TEXTS, make_scorer("verdict"))
        dispatcher = RunDispatcher(InlineExecutor())
        dispatcher.take_waiting()
        Run.objects.update(stall_reason="rate-limited until 14:05")
        for work in dispatcher._works():
            work.run.refresh_from_db()
        dispatcher.stop(0)
        run.refresh_from_db()
        assert (run.stall_reason, run_progress(run).cause) == (
            "",
            "no worker: start `manage.py worker`",
        )


@pytest.mark.django_db
class TestEndless:
    """A shard that never ends, in a pool that cannot know."""

    class Stuck(InlineExecutor):
        """Two processes; the first of them never comes back from the first shard."""

        processes = 2

        def __init__(self) -> None:
            self.restarts, self.asked = 0, 0

        def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
            self.asked += 1
            return Future() if self.asked == 1 else super().submit(function, *args)

        def restart(self) -> None:
            self.restarts += 1

    def test_it_is_given_up_and_the_run_goes_on(
        self, run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = iter(float(n) for n in range(0, 100_000, 200))
        monkeypatch.setattr(shard_scheduler.time, "monotonic", lambda: next(clock))
        run = run_of_yes(12)
        pool = self.Stuck()
        run_to_end(run, pool)
        assert (run.state, run.pass_count, run.error_count) == ("finished", 8, 4)
        codes = Score.objects.exclude(code="").values_list("code", "reason").distinct()
        assert list(codes) == [("too_slow", "its shard was not scored within 15 minutes")]
        assert pool.restarts == 1

    @pytest.mark.django_db(transaction=True)
    def test_the_process_it_keeps_is_ended(
        self, run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(run_dispatcher, "SHARD_SECONDS", 0.1)
        monkeypatch.setattr(shard_scheduler, "execute_shard", endless)
        run = run_of_yes(1)
        seen: set[int] = set()
        with ProcessPool(1) as pool:
            run_to_end(run, pool, lambda: seen.update(pool.process_ids()))
        assert (run.state, run.error_count, len(seen)) == ("finished", 1, 1)
        assert not any(Path(f"/proc/{pid}").exists() for pid in seen)

    def test_a_shard_that_waits_its_turn_is_not_late(
        self, make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waiting: dict[Future[None], shard_scheduler.ShardTask] = {}
        scheduler = ShardScheduler(self.Stuck(), shard_seconds=10.0)
        work = shard_scheduler.RunWork(Run(), waiting=shard_scheduler.deque())
        for shard in (1, 2, 3):
            waiting[Future()] = shard_scheduler.ShardTask(work, shard)
        scheduler.tasks = waiting
        monkeypatch.setattr(shard_scheduler.time, "monotonic", lambda: 5.0)
        scheduler.collect()
        assert [task.since for task in waiting.values()] == [5.0, 5.0, None]


def test_faults_have_their_codes(
    db: None, make_run: MakeRun, make_scorer: MakeScorer, model: Model
) -> None:
    model.faults = {
        "0.001": CallFailure("timeout", "no answer"),
        "0.002": CallFailure("refused", "no"),
    }
    run = make_run(TEXTS, make_scorer("verdict"))
    run_to_end(run, InlineExecutor())
    (summary,) = (scorer.summary for scorer in run.scorers.all())
    assert (summary.scored, summary.n, summary.causes) == (8, 10, {"timeout": 1, "refused": 1})
