"""Judged runs against a stub endpoint: faults, retries, kills, budgets."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.runs.progress import run_progress
from scoring.engine.services.reply_store import RunBudget
from scoring.engine.worker import run_dispatcher
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    Connection,
    Embedding,
    ModelCall,
    OutputSet,
    Run,
    RunState,
    Scorer,
    Team,
    Worker,
)
from tests.conftest import MakeOutputs
from tests.stub import Asked, Stub, wire
from tests.stub.wire import Answer
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.outages import NOTICED, outage
from tests.support.thoroughness import CALLS, CALLS_BETWEEN_KILLS, KILLS
from tests.support.tiny_model import put_tiny_model
from tests.support.waiting import DEADLINE_SECONDS, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

#: A worker that does not wait long for the calls under way when it is told to stop.
IMPATIENT = """
import django
django.setup()
from django.core.management import call_command
from scoring.engine.worker import main
main.STOP_SECONDS = 0.1
call_command("worker")
"""
CALL_USD = 0.01  # 100 tokens in at 100 dollars a million
CONCURRENCY = 8

Judge = Callable[..., Scorer]


@pytest.fixture
def judge(team: Team, stub: Stub, make_scorer: MakeScorer) -> Judge:
    """A judge asking the stub's scenario; `priced` False leaves its price unknown."""

    def make(
        scenario: str, kind: str = "factuality", *, priced: bool = True, **config: Any
    ) -> Scorer:
        prices = {"usd_per_million_in": 100.0, "usd_per_million_out": 0.0} if priced else {}
        Connection.objects.define(
            team,
            scenario,
            stub.url(scenario),
            offered=[{"name": "stub-1", **prices}],
            concurrency=CONCURRENCY,
            by=None,
        )
        return make_scorer(kind, scenario, model="stub-1", connection=scenario, **config)

    return make


def by_text(answers: dict[str, Answer], times: int | None = None) -> Callable[[Asked], Answer]:
    """A judge that says C but of outputs holding one of these words, for so many times each."""
    said: Counter[str] = Counter()

    def answer(asked: Asked) -> Answer:
        for word, given in answers.items():
            if word in asked.user:
                said[word] += 1
                if times is None or said[word] <= times:
                    return given
        return wire.verdict("C")

    return answer


def texts(count: int, **odd: int) -> list[str]:
    """Outputs of which those at the given places hold that word."""
    found = [f"Answer number {n}." for n in range(count)]
    for word, place in odd.items():
        found[place] += f" {word}"
    return found


class TestFaults:
    FAULTS = {
        "unparsable": wire.completion("It is C, I think"),
        "offmenu": wire.verdict("F"),
        "empty": wire.completion(""),
    }

    def test_three_faults_of_50_are_told_and_retrying_makes_three_calls(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        stub.play("sulky", by_text(self.FAULTS, times=1))
        run = make_run(texts(50, unparsable=3, offmenu=25, empty=49), judge("sulky"))
        run_to_end(run, threads)
        (summary,) = (scorer.summary for scorer in run.scorers.all())
        assert (summary.scored, summary.n, summary.mean) == (47, 50, 1.0)
        assert summary.causes == {"reply_unparsable": 1, "choice_unknown": 1, "reply_empty": 1}
        assert (run.judge_calls, run.judge_tokens_in, run.judge_tokens_out) == (50, 5_000, 1_000)
        assert run.judge_cost_usd == pytest.approx(50 * CALL_USD)
        stub.requests.clear()
        assert planning.retry_errors(run, by=None)
        run_to_end(run, threads)
        assert len(stub.requests) == 3
        assert (run.pass_count, run.error_count, run.judge_calls) == (50, 0, 53)

    def test_a_kept_sample_is_not_paid_twice(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        stub.play("sulky", by_text(self.FAULTS, times=1))
        rubric = {"rubric": "Is it so?", "choices": {"C": 1.0, "D": 0.0}, "samples": 3}
        run = make_run(texts(2, empty=0), judge("sulky", "llm_judge", **rubric))
        run_to_end(run, threads)
        assert (len(stub.requests), run.error_count) == (6, 1)
        planning.retry_errors(run, by=None)
        run_to_end(run, threads)
        assert (len(stub.requests), run.error_count) == (7, 0)

    @pytest.mark.parametrize(
        ("scenario", "code"),
        [("key-refused", "key_refused"), ("quota", "quota_exhausted"), ("model-missing", None)],
    )
    def test_what_refuses_every_call_is_soon_not_called_any_more(
        self,
        stub: Stub,
        judge: Judge,
        make_run: MakeRun,
        threads: ThreadPool,
        scenario: str,
        code: str | None,
    ) -> None:
        run = make_run(texts(200), judge(scenario))
        run_to_end(run, threads)
        (summary,) = (scorer.summary for scorer in run.scorers.all())
        assert (run.state, summary.causes) == ("finished", {code or "model_missing": 200})
        assert len(stub.requests) <= 2 * CONCURRENCY
        assert run.judge_calls == 0

    def test_a_connection_that_is_gone_is_an_error_of_each_case(
        self, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        run = make_run(texts(3), judge("same"))
        Connection.objects.all().delete()
        run_to_end(run, threads)
        assert {row[6] for row in rows_of(run)} == {"connection_missing"}
        assert "the team has no connection called 'same' any more" in rows_of(run)[0][7]

    def test_a_rate_limited_run_says_until_when(
        self,
        stub: Stub,
        judge: Judge,
        make_run: MakeRun,
        threads: ThreadPool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(run_dispatcher, "REPORT_SECONDS", 0.0)
        stub.play("slow", [wire.rate_limited("1"), wire.verdict("C")])
        run = make_run(texts(1), judge("slow"))
        causes = set()

        def look() -> None:
            causes.add(run_progress(Run.objects.get(pk=run.pk)).cause)

        run_to_end(run, threads, look)
        (told,) = causes - {None}
        assert told.startswith("rate-limited until ")
        run.refresh_from_db()
        assert (run.pass_count, run.stall_reason) == (1, "")


class TestBudget:
    def test_it_is_overrun_by_no_more_than_was_under_way(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        run = make_run(texts(200), judge("same"))
        run.budget_usd = 50.5 * CALL_USD
        run.save()
        run_to_end(run, threads)
        assert 51 <= len(stub.requests) <= 51 + CONCURRENCY
        assert run.judge_cost_usd == pytest.approx(len(stub.requests) * CALL_USD)
        (summary,) = (scorer.summary for scorer in run.scorers.all())
        assert summary.causes == {"budget_reached": 200 - len(stub.requests)}

    @pytest.mark.parametrize(
        "usage",
        [
            {},
            {"prompt_tokens": -100, "completion_tokens": -20},
            {"prompt_tokens": 0, "completion_tokens": 0},
            {"prompt_tokens": 9 * 10**18, "completion_tokens": 9 * 10**18},
        ],
        ids=["none", "negative", "zero", "impossible"],
    )
    def test_it_holds_where_the_endpoint_reports_no_usage(
        self,
        stub: Stub,
        judge: Judge,
        make_run: MakeRun,
        threads: ThreadPool,
        usage: dict[str, int],
    ) -> None:
        body = json.loads(wire.verdict("C").body) | {"usage": usage}
        stub.play("mute", wire.json_answer(body))
        run = make_run(texts(40), judge("mute"))
        run.budget_usd = 0.001
        run.save()
        run_to_end(run, threads)
        assert len(stub.requests) <= CONCURRENCY
        assert run.error_count == 40 - len(stub.requests)
        (estimate, *_) = ModelCall.objects.values_list("estimated_cost_usd", flat=True)
        assert estimate > 0.001
        assert run.estimated_cost_usd == pytest.approx(estimate * len(stub.requests), rel=0.1)
        assert run.judge_cost_usd is None
        assert RunBudget(run).may_spend() is False  # also in the next process

    def test_a_retry_may_have_more_and_pays_nothing_twice(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        run = make_run(texts(100), judge("same"))
        run.budget_usd = 0.0
        run.save()
        run_to_end(run, threads)
        assert (len(stub.requests), run.error_count) == (0, 100)
        assert planning.retry_errors(run, by=None, budget_usd=40 * CALL_USD)
        run_to_end(run, threads)
        assert 40 <= len(stub.requests) <= 41 + CONCURRENCY
        assert planning.retry_errors(run, by=None, budget_usd=200 * CALL_USD)
        run_to_end(run, threads)
        assert (len(stub.requests), run.pass_count, run.error_count) == (100, 100, 0)

    def test_it_needs_a_price(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        run = make_run(texts(2), judge("same", priced=False))
        run.budget_usd = 1.0
        run.save()
        run_to_end(run, threads)
        assert (stub.requests, {row[6] for row in rows_of(run)}) == ([], {"price_missing"})
        assert "enter its price in the connection same" in rows_of(run)[0][7]


class TestReuse:
    def test_another_run_of_the_same_outputs_pays_nothing(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        scorer = judge("same")
        first = make_run(texts(20), scorer)
        run_to_end(first, threads)
        again = make_run(first.output_set, scorer, name="again")
        run_to_end(again, threads)
        assert len(stub.requests) == 20
        assert (again.judge_calls, again.judge_cost_usd) == (0, None)
        assert [row[:6] for row in rows_of(again)] == [row[:6] for row in rows_of(first)]

    def test_a_connection_that_leads_elsewhere_is_asked_anew(
        self, stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
    ) -> None:
        scorer = judge("same")
        first = make_run(texts(20), scorer)
        run_to_end(first, threads)
        stub.play("other", wire.verdict("D"))
        Connection.objects.get().change(
            by=None,
            base_url=stub.url("other"),
            offered=[],
            timeout_seconds=60,
            concurrency=CONCURRENCY,
        )
        again = make_run(first.output_set, scorer, name="again")
        run_to_end(again, threads)
        assert len(stub.asked("other")) == 20
        assert {row[4] for row in rows_of(again)} == {0.0}


class TestRealWorkers:
    """With a real worker process that asks the stub in this one."""

    @pytest.fixture
    def start(self, site: Site, stub: Stub) -> Callable[..., Any]:
        hosts = ",".join(sorted(stub.hosts))
        return partial(site.start, "worker", EVALSITE_MODEL_HOSTS=hosts)

    @pytest.mark.kills
    @pytest.mark.long("a worker is killed twice")
    def test_a_killed_worker_pays_again_for_no_more_than_was_under_way(
        self,
        stub: Stub,
        judge: Judge,
        make_run: MakeRun,
        make_outputs: MakeOutputs,
        site: Site,
        start: Callable[[], Any],
        chance: Random,
    ) -> None:
        stub.latency = 0.05
        scorer = judge("same")
        run = make_run(texts(CALLS), scorer)
        for kills in range(KILLS):
            worker = start()
            target = len(stub.requests) + chance.randrange(10, CALLS_BETWEEN_KILLS)
            wait_until(lambda: len(stub.requests) >= min(target, CALLS - 20))  # noqa: B023
            (os.killpg if kills % 2 else os.kill)(worker.pid, signal.SIGKILL)
            worker.wait(DEADLINE_SECONDS)
        start()
        wait_until(lambda: Run.objects.get(pk=run.pk).state == RunState.FINISHED)
        assert CALLS <= len(stub.requests) <= CALLS + KILLS * CONCURRENCY
        asked = Counter(request.user for request in stub.requests)
        assert len(asked) == CALLS
        calm = make_run(make_outputs(run.output_set.version, texts(CALLS), series="b"), scorer)
        wait_until(lambda: Run.objects.get(pk=calm.pk).state == RunState.FINISHED)
        assert [row[:8] for row in rows_of(run)] == [row[:8] for row in rows_of(calm)]
        assert verdicts_of(run) == verdicts_of(calm)

    @pytest.mark.kills
    @pytest.mark.postgresql
    @pytest.mark.long("the database of a worker goes and comes twice")
    def test_an_outage_of_the_database_costs_no_more_calls_than_were_under_way(
        self,
        stub: Stub,
        judge: Judge,
        make_run: MakeRun,
        site: Site,
        start: Callable[[], Any],
    ) -> None:
        stub.latency = 0.05
        run = make_run(texts(CALLS), judge("same"))
        worker = start()
        for outages in range(KILLS):
            target = (outages + 1) * CALLS // (KILLS + 2)
            wait_until(lambda: len(stub.requests) >= target)  # noqa: B023
            noticed = site.log.count(NOTICED)
            with outage():
                wait_until(lambda: site.log.count(NOTICED) > noticed)  # noqa: B023
        wait_until(lambda: Run.objects.get(pk=run.pk).state == RunState.FINISHED)
        assert worker.poll() is None
        assert CALLS <= len(stub.requests) <= CALLS + KILLS * CONCURRENCY
        assert len(Counter(request.user for request in stub.requests)) == CALLS
        assert Run.objects.get(pk=run.pk).error_count == 0
        assert len(rows_of(run)) == CALLS

    def test_a_worker_told_to_stop_ends_although_the_endpoint_hangs(
        self, stub: Stub, judge: Judge, make_run: MakeRun, start: Callable[..., Any], site: Site
    ) -> None:
        run = make_run(texts(30), judge("hang"))
        Connection.objects.update(timeout_seconds=5 * DEADLINE_SECONDS)  # no call ends by itself
        worker = start(program=("-c", IMPATIENT))
        wait_until(lambda: len(stub.requests) >= CONCURRENCY)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(DEADLINE_SECONDS) == 0
        run.refresh_from_db()
        assert (run.state, run.lease_owner, Worker.objects.count()) == ("running", "", 0)
        assert "Traceback" not in site.log


@pytest.mark.parametrize("kind", ["factuality", "reference_match"])
def test_a_cancelled_run_ends_although_its_endpoint_hangs(
    stub: Stub,
    judge: Judge,
    make_scorer: MakeScorer,
    make_run: MakeRun,
    threads: ThreadPool,
    kind: str,
) -> None:
    """Whatever the connection's time limit."""
    stub._scripts["hang"] = lambda _: Answer(latency=100 * DEADLINE_SECONDS)
    scorer = judge("hang")
    if kind == "reference_match":
        embedding = {"embedding_provider": "openai", "model_name": "m-1", "connection": "hang"}
        scorer = make_scorer(kind, **embedding)
    Connection.objects.update(timeout_seconds=10 * DEADLINE_SECONDS)
    run = make_run(texts(30), scorer)

    def cancel() -> None:
        if stub.requests and Run.objects.get(pk=run.pk).state == RunState.RUNNING:
            planning.cancel_run(run, by=None)

    run_to_end(run, threads, cancel)
    assert run.state == RunState.CANCELLED


def test_everything_is_told_of_one_call(
    stub: Stub, judge: Judge, make_run: MakeRun, threads: ThreadPool
) -> None:
    run: Run = make_run(texts(1), judge("same"))
    run_to_end(run, threads)
    call = ModelCall.objects.get()
    assert (call.run, call.purpose, call.connection_name, call.model) == (
        run,
        "judge",
        "same",
        "stub-1",
    )
    assert (call.tokens_in, call.tokens_out, call.cost_usd) == (100, 20, CALL_USD)
    assert call.latency_ms
    assert OutputSet.objects.count() == 1


class TestMeanings:
    """Local embeddings in a real worker, whose threads load the model once."""

    def test_a_worker_scores_them_and_stops_at_once(
        self, site: Site, make_run: MakeRun, make_scorer: MakeScorer, tmp_path: Path
    ) -> None:
        scorer = make_scorer("reference_match", embedding_provider="local")
        run = make_run(["yes", "Yes, it is.", "bananas"] * 30, scorer)
        other = make_run(run.output_set, scorer, name="other")
        worker = site.start("worker", PYTHONPATH=str(put_tiny_model(tmp_path / "libraries")))
        for each in (run, other):
            wait_until(lambda: Run.objects.get(pk=each.pk).state == RunState.FINISHED)  # noqa: B023
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(DEADLINE_SECONDS) == 0
        assert "Traceback" not in site.log
        assert Embedding.objects.count() == 3
        scores = [row[4] for row in rows_of(run)]
        assert scores == [row[4] for row in rows_of(other)]
        assert {row[1]: row[4] for row in rows_of(run)}["case-1"] == 1.0
        assert len(set(scores)) == 3
