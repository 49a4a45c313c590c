"""Runs that make their outputs by calling a stub endpoint, then score them."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from scoring.engine.outputs.generation import OutputRecipe, create_output_set
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.runs.progress import run_progress
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Connection, ModelCall, Output, Run, RunState, Team
from tests.conftest import MakeDataset
from tests.stub import Asked, Stub, wire
from tests.stub.wire import Answer
from tests.support.fixtures.runs import MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.thoroughness import CALLS, CALLS_BETWEEN_KILLS, KILLS
from tests.support.waiting import DEADLINE_SECONDS, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CALL_USD = 0.01  # 100 tokens in at 100 dollars a million
CONCURRENCY = 8

MakeGenerated = Callable[..., Run]


@pytest.fixture
def make_generated(
    team: Team, stub: Stub, make_dataset: MakeDataset, make_scorer: MakeScorer
) -> MakeGenerated:
    """A queued run over numbered cases, whose model must answer `yes`."""

    def make(cases: int, trials: int = 1, budget_usd: float | None = None) -> Run:
        connection = Connection.objects.define(
            team,
            "stub",
            stub.url("model"),
            offered=[{"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0}],
            concurrency=CONCURRENCY,
            by=None,
        )
        asked = [{"input": {"n": n}, "expected": "yes"} for n in range(cases)]
        recipe = OutputRecipe(
            "stub-1", "Number {{ input.n }}.", connection=connection, trials=trials
        )
        outputs = create_output_set(make_dataset(asked), recipe)
        scorer = make_scorer("exact_match")
        return planning.create_run(outputs, scorers=[(scorer, 1.0)], budget_usd=budget_usd)

    return make


def yes(_: Asked) -> Answer:
    return wire.completion("yes")


def rows(run: Run) -> list[tuple[Any, ...]]:
    outputs = Output.objects.filter(output_set=run.output_set_id).order_by("case", "trial")
    return list(outputs.values_list("case__position", "trial", "text", "error", "cost_usd"))


def test_outputs_are_made_and_then_scored(
    stub: Stub, make_generated: MakeGenerated, threads: ThreadPool
) -> None:
    stub.play("model", yes)
    run = make_generated(100, trials=2)
    stages = set()

    def look() -> None:
        stages.add(run_progress(Run.objects.get(pk=run.pk)).stage)

    run_to_end(run, threads, look)
    assert (run.state, run.pass_count, len(stub.requests)) == ("finished", 100, 200)
    assert rows(run)[:3] == [
        (1, 0, "yes", "", CALL_USD),
        (1, 1, "yes", "", CALL_USD),
        (2, 0, "yes", "", CALL_USD),
    ]
    assert "making outputs" in stages
    run.output_set.refresh_from_db()
    assert (run.output_set.state, run.output_set.output_count) == ("ready", 200)
    assert (run.cost_usd, run.judge_calls) == (pytest.approx(2.0), None)
    assert {kind for (kind,) in run.attempts.values_list("kind")} == {"generate", "score"}


def test_an_output_that_failed_is_an_error_and_is_made_by_a_retry(
    stub: Stub, make_generated: MakeGenerated, threads: ThreadPool
) -> None:
    times: Counter[str] = Counter()

    def sulky(asked: Asked) -> Answer:
        times[asked.user] += 1
        once = asked.user == "Number 7." and times[asked.user] == 1
        return wire.completion("", finish="content_filter") if once else yes(asked)

    stub.play("model", sulky)
    run = make_generated(20)
    run_to_end(run, threads)
    (summary,) = (scorer.summary for scorer in run.scorers.all())
    assert (run.pass_count, run.error_count, summary.causes) == (19, 1, {"no_output": 1})
    assert planning.retry_errors(run, by=None)
    run_to_end(run, threads)
    assert (run.pass_count, run.error_count, len(stub.requests)) == (20, 0, 21)


def test_the_budget_stops_the_calls_and_is_named(
    stub: Stub, make_generated: MakeGenerated, threads: ThreadPool
) -> None:
    stub.play("model", yes)
    run = make_generated(100, budget_usd=20.5 * CALL_USD)
    run_to_end(run, threads)
    assert 21 <= len(stub.requests) <= 21 + CONCURRENCY
    assert run.error_count == 100 - len(stub.requests)
    assert "budget" in Output.objects.filter(text=None)[0].error


def test_a_cancelled_run_goes_on_where_it_stood(
    stub: Stub, make_generated: MakeGenerated, threads: ThreadPool
) -> None:
    stub.play("model", yes)
    stub.latency = 0.02
    run = make_generated(300)

    def cancel_soon() -> None:
        if len(stub.requests) > 30:
            planning.cancel_run(Run.objects.get(pk=run.pk), by=None)

    run_to_end(run, threads, cancel_soon)
    assert run.state == RunState.CANCELLED
    asked = len(stub.requests)
    assert asked < 300
    assert planning.resume_run(run, by=None)
    run_to_end(run, threads)
    assert (run.state, run.pass_count) == ("finished", 300)
    assert len(stub.requests) == 300, "what was paid before the cancel is not paid again"
    assert ModelCall.objects.filter(run=run, purpose="generate").count() == 300
    assert run.cost_usd == pytest.approx(300 * CALL_USD)


def test_another_run_wants_answers_of_its_own(
    stub: Stub, make_generated: MakeGenerated, threads: ThreadPool
) -> None:
    stub.play("model", yes)
    first = make_generated(5)
    run_to_end(first, threads)
    kept = first.output_set.generation
    recipe = OutputRecipe("stub-1", kept.template, connection=kept.connection)
    outputs = create_output_set(first.output_set.version, recipe)
    (scorer,) = (each.version.scorer for each in first.scorers.all())
    second = planning.create_run(outputs, scorers=[(scorer, 1.0)])
    run_to_end(second, threads)
    assert (second.pass_count, len(stub.requests)) == (5, 10)


@pytest.mark.kills
@pytest.mark.long("a worker is killed twice")
def test_a_killed_worker_loses_and_repeats_nothing(
    stub: Stub, make_generated: MakeGenerated, site: Site, chance: Random
) -> None:
    stub.play("model", yes)
    stub.latency = 0.05
    run = make_generated(CALLS // 2, trials=2)
    hosts = ",".join(sorted(stub.hosts))
    for _ in range(KILLS):
        worker = site.start("worker", EVALSITE_MODEL_HOSTS=hosts)
        target = len(stub.requests) + chance.randrange(10, CALLS_BETWEEN_KILLS)
        wait_until(lambda: len(stub.requests) >= min(target, CALLS - 20))  # noqa: B023
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(DEADLINE_SECONDS)
    site.start("worker", EVALSITE_MODEL_HOSTS=hosts)
    wait_until(lambda: Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    assert CALLS <= len(stub.requests) <= CALLS + KILLS * CONCURRENCY
    found = [(position, trial, text) for position, trial, text, _, _ in rows(run)]
    assert found == [(n, trial, "yes") for n in range(1, CALLS // 2 + 1) for trial in (0, 1)]
    run.refresh_from_db()
    assert (run.pass_count, run.output_counts["pass"]) == (CALLS // 2, CALLS)
