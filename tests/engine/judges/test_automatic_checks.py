"""A/A checks that follow runs by themselves: when they are due, and what uses what they find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.compare.comparison import compute_figures
from scoring.engine.compare.regressions import count_regressions
from scoring.engine.jobs import job_queue
from scoring.engine.judges.automatic_checks import check_now, enqueue_checks, judges_to_check
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import follow_up
from scoring.engine.runs.hooks import RUNS_ENDED
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Connection, Job, JobKind, JobState, JudgeVariance, Run, RunState, Team
from tests.stub import Asked, Stub, wire
from tests.stub.wire import Answer
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CHOICES = {"good": 1.0, "bad": 0.0}
PRICE = {"usd_per_million_in": 100.0, "usd_per_million_out": 0.0}
OUTPUTS = 8

MakeJudged = Callable[..., Run]


@pytest.fixture(autouse=True)
def sample(settings: Settings) -> None:
    settings.EVALSITE_JUDGE_CHECK_SAMPLE = 4


@pytest.fixture
def make_judged(
    team: Team, stub: Stub, make_scorer: MakeScorer, make_run: MakeRun, threads: ThreadPool
) -> MakeJudged:
    """A finished run of new outputs by the one judge, who changes its mind when asked again."""
    asked_before: set[str] = set()

    def answer(asked: Asked) -> Answer:
        is_again = asked.user in asked_before
        asked_before.add(asked.user)
        return wire.verdict("bad" if is_again else "good")

    url = stub.play("judge", answer)
    Connection.objects.define(team, "own", url, offered=[{"name": "stub-1", **PRICE}], by=None)
    judge = make_scorer("llm_judge", rubric="Good?", choices=CHOICES, model="stub-1")

    def make(name: str = "w1", *, budget_usd: float | None = None) -> Run:
        run = make_run([f"Answer {number} of {name}." for number in range(OUTPUTS)], judge)
        Run.objects.filter(pk=run.pk).update(name=name, budget_usd=budget_usd)
        run.refresh_from_db()
        run_to_end(run, threads)
        run.refresh_from_db()
        assert run.state == RunState.FINISHED
        stub.requests.clear()
        return run

    return make


def due(run: Run) -> list[str]:
    return [judge.name for judge in judges_to_check(run)]


def waiting_checks() -> list[Job]:
    return list(Job.objects.filter(kind=JobKind.MEASURE_VARIANCE, state=JobState.WAITING))


def test_the_first_run_of_a_judge_is_followed_by_a_check_of_a_sample(
    make_judged: MakeJudged, stub: Stub
) -> None:
    run = make_judged()
    enqueue_checks([run])
    (job,) = waiting_checks()
    job_queue.run_job(job)
    check = JudgeVariance.objects.get()
    assert (check.n, check.flips, check.requested_by) == (4, 4, None)
    assert check.model_names == ["stub-1"]
    assert len(stub.requests) == 4
    assert due(run) == []
    assert due(make_judged("w2")) == []  # the same judge and model


def test_the_follow_up_of_a_run_enqueues_it_before_the_comparison(make_judged: MakeJudged) -> None:
    runs = [make_judged("w1"), make_judged("w2")]
    follow_up.follow_up(runs)
    kinds = list(Job.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds.index(JobKind.MEASURE_VARIANCE) < kinds.index(JobKind.COMPARE)
    places = [name.split(".")[2] for name in RUNS_ENDED]
    assert places.index("judges") < places.index("compare")


def test_a_check_that_waits_is_not_enqueued_again(make_judged: MakeJudged) -> None:
    enqueue_checks([make_judged("w1")])
    enqueue_checks([make_judged("w2")])
    assert len(waiting_checks()) == 1


def test_another_version_or_another_model_that_answers_is_checked_again(
    make_judged: MakeJudged,
) -> None:
    run = make_judged()
    assert list(check_now(run)) == []
    assert due(run) == []
    JudgeVariance.objects.update(model_names=["stub-0"])
    assert due(run) == ["llm_judge"]
    JudgeVariance.objects.update(model_names=["stub-1"])
    version = run.scorers.get().version
    version.scorer.revise({**version.config, "rubric": "Better?"}, by=None)
    revised = version.scorer.current
    run.scorers.update(version=revised)
    assert due(Run.objects.get(pk=run.pk)) == ["llm_judge"]


def test_no_check_is_due_without_calls_an_end_or_a_sample(
    make_judged: MakeJudged, settings: Settings
) -> None:
    run = make_judged()
    assert due(run) == ["llm_judge"]
    for field, value in (("judge_calls", 0), ("judge_calls", None), ("state", RunState.CANCELLED)):
        changed = Run.objects.get(pk=run.pk)
        setattr(changed, field, value)
        assert due(changed) == []
    settings.EVALSITE_JUDGE_CHECK_SAMPLE = 0
    assert due(run) == []


def test_a_real_worker_checks_the_judge_after_the_run(
    make_judged: MakeJudged, stub: Stub, site: Site
) -> None:
    run = make_judged()
    hosts = ",".join(sorted(stub.hosts))
    site.start("worker", EVALSITE_MODEL_HOSTS=hosts, EVALSITE_JUDGE_CHECK_SAMPLE="3")
    wait_until(lambda: not Job.objects.unfinished().exists())
    assert JudgeVariance.objects.get(run=run).n == 3
    assert "Traceback" not in site.log


def test_other_scorers_are_not_checked(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    run = make_run(["yes"] * 4, make_scorer("exact_match"))
    run.judge_calls, run.state = 3, RunState.FINISHED
    assert due(run) == []


def test_a_check_fits_what_is_left_of_the_budget(make_judged: MakeJudged) -> None:
    run = make_judged(budget_usd=100.0)
    assert due(run) == ["llm_judge"]
    Run.objects.filter(pk=run.pk).update(budget_usd=run.judge_cost_usd)
    assert due(Run.objects.get(pk=run.pk)) == []


def test_a_check_that_fails_is_said_and_leaves_nothing(make_judged: MakeJudged, stub: Stub) -> None:
    run = make_judged()
    Connection.objects.all().delete()
    (problem,) = check_now(run)
    assert problem.startswith("the noise of llm_judge is not known: 0 of 4 outputs could be scored")
    assert not JudgeVariance.objects.exists()


def test_comparison_and_gate_use_the_noise(make_judged: MakeJudged) -> None:
    before, after = make_judged("w1"), make_judged("w2")
    assert compute_figures(before, after).scorers[0].noise is None
    unchecked = count_regressions(after, before, is_tested=True).flips
    assert unchecked is not None
    assert unchecked.judge_flips is None
    list(check_now(after))
    JudgeVariance.objects.update(deviation=0.2, pairs=[[1.0, 0.0], [1.0, 1.0]])
    assert compute_figures(before, after).scorers[0].noise is not None
    flips = count_regressions(after, before, is_tested=True).flips
    assert flips is not None
    assert flips.judge_flips == 0.5
    assert flips.chance_flips == 0.5
