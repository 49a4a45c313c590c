"""How far a job says it is that scores through models, and when it stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.llm import judge_client
from scoring.core.services import use_services
from scoring.engine.estimates.call_progress import (
    CACHED_REPLY_SECONDS,
    ExpectedCall,
    ReportingServices,
    expected_calls,
)
from scoring.engine.jobs import job_queue
from scoring.engine.jobs import progress as stages
from scoring.engine.jobs.progress import JobProgress
from scoring.engine.services.team_services import TeamServices
from scoring.engine.tryout import preview
from scoring.engine.tryout.preview import Config
from scoring.models import CallPurpose, Connection, Job, JobKind, JobState, ModelCall, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.core.embeddings.test_cache import Letters
from tests.stub import Asked, Stub, wire
from tests.support.run_states import CLOSE, finished_run
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

COUNT = 6
CASES = [Case(output=f"Answer {n}.", expected="right") for n in range(COUNT)]
OFFERED = [{"name": "stub-1", "usd_per_million_in": 1.0, "usd_per_million_out": 1.0}]
RUBRIC = {"rubric": "Good?", "choices": {"good": 1.0, "bad": 0.0}, "model": "stub-1"}
OTHER = {**RUBRIC, "rubric": "Short?", "samples": 2}
JUDGE = ("llm_judge", RUBRIC)


def child(kind: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "config": config}


#: Two judges around a rule, and a meaning inside.
NESTED = [
    child(*JUDGE),
    child("levenshtein", {}),
    child("all", {"scorers": [child("reference_match", {"embedding_provider": "local"})]}),
    child("llm_judge", OTHER),
]


@pytest.fixture
def judge(stub: Stub, team: Team, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Asked one question at a time, and heard of often."""
    monkeypatch.setattr(judge_client, "PROGRESS_SECONDS", 0.001)
    monkeypatch.setattr(stages, "REPORT_SECONDS", 0.0)
    url = stub.play("judge", wire.verdict("good"))
    Connection.objects.define(team, "own", url, offered=OFFERED, concurrency=1, by=None)
    return stub


def begun(team: Team) -> Job:
    kind, state = JobKind.PREVIEW_SCORER, JobState.WORKING
    return Job.objects.create(team=team, kind=kind, state=state)


def score_with_progress(
    team: Team, calls: Sequence[ExpectedCall], cases: Sequence[Case] = CASES, job: Job | None = None
) -> list[Result]:
    services = TeamServices(team, purpose=CallPurpose.TRY)
    with use_services(ReportingServices(job or begun(team), services, calls)):
        return configure_scorer(*JUDGE).score(cases)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[JobProgress]:
    """What jobs report from now on."""
    reports: list[JobProgress] = []
    tell = Job.store_progress

    def record(job: Job, progress: Any) -> bool:
        reports.append(JobProgress(**progress))
        return tell(job, progress)

    monkeypatch.setattr(Job, "store_progress", record)
    return reports


def patient(told: list[JobProgress]) -> Callable[[Asked], wire.Answer]:
    """Answers each question once all earlier answers have been told."""
    numbers = count()

    def answer(_: Asked) -> wire.Answer:
        number = next(numbers)
        wait_until(lambda: any(each.done >= number for each in told))
        return wire.verdict("good")

    return answer


def test_replies_are_counted_as_they_come(judge: Stub, team: Team, told: list[JobProgress]) -> None:
    judge.play("judge", patient(told))
    results = score_with_progress(team, expected_calls(team, configure_scorer(*JUDGE), CASES))
    assert [result.score for result in results] == [1.0] * COUNT
    done = list(dict.fromkeys(each.done for each in told))
    assert done[:COUNT] == list(range(COUNT))
    assert {(each.doing, each.total) for each in told} == {("replies", COUNT)}
    assert all(0 <= each.share <= 1 for each in told)
    assert ModelCall.objects.count() == len(judge.requests) == COUNT


def test_every_part_that_asks_is_foreseen_in_its_order(judge: Stub, team: Team) -> None:
    asks = expected_calls(team, configure_scorer("weighted", {"scorers": NESTED}), CASES)
    assert [each[:2] for each in asks] == [
        ("replies", COUNT),
        ("texts embedded", COUNT + 1),
        ("replies", 2 * COUNT),
    ]
    assert asks[2].seconds == pytest.approx(2 * asks[0].seconds)
    assert judge.requests == []


def test_what_is_kept_takes_no_time(judge: Stub, team: Team, told: list[JobProgress]) -> None:
    services, ready = TeamServices(team, purpose=CallPurpose.TRY), configure_scorer(*JUDGE)
    with use_services(services):
        ready.score(CASES[:4])
    (ask,) = expected_calls(team, ready, CASES)
    (every,) = expected_calls(team, ready, CASES[:4])
    assert (ask.total, every.total) == (COUNT, 4)
    assert every.seconds == pytest.approx(4 * CACHED_REPLY_SECONDS)
    assert ask.seconds > COUNT * CACHED_REPLY_SECONDS
    judge.play("judge", patient(told))
    score_with_progress(team, [ask])
    first, *later = (each.done for each in told)
    assert first == 0
    assert later
    assert set(later) <= {4, 5, 6}  # never fewer than were kept
    assert len(judge.requests) == COUNT


def test_one_text_is_asked_about_once(judge: Stub, team: Team) -> None:
    same = [CASES[0]] * COUNT
    calls = expected_calls(team, configure_scorer(*JUDGE), same)
    assert [call.total for call in calls] == [1]
    score_with_progress(team, calls, same)
    assert len(judge.requests) == 1


def test_what_was_not_foreseen_is_answered_all_the_same(
    judge: Stub, team: Team, told: list[JobProgress]
) -> None:
    results = score_with_progress(team, [])
    assert [result.score for result in results] == [1.0] * COUNT
    assert told == []


def test_a_job_that_nobody_wants_any_more_stops(judge: Stub, team: Team) -> None:
    job, calls = begun(team), expected_calls(team, configure_scorer(*JUDGE), CASES)
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED)
    results = score_with_progress(team, calls, job=job)
    assert {result.code for result in results} == {"cancelled"}
    assert judge.requests == []


def test_a_database_that_is_busy_costs_no_reply(
    judge: Stub, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(Job, "store_progress", busy)
    results = score_with_progress(team, [ExpectedCall("replies", COUNT, 1.0)])
    assert [result.score for result in results] == [1.0] * COUNT


def test_a_preview_says_how_far_it_is(
    judge: Stub,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    told: list[JobProgress],
) -> None:
    version = make_dataset([{"expected": "right"}] * COUNT)
    run = finished_run(make_outputs(version, [f"Answer {n}." for n in range(COUNT)]), CLOSE)
    judge.play("judge", patient(told))
    sample = preview.sample_outputs(run, None)
    job = preview.enqueue_preview(Config(*JUDGE, 0.5), run, None, sample, alice)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.problem
    assert [result.verdict for result in preview.job_results(job)] == ["pass"] * COUNT
    assert told[0] == JobProgress("replies", 0, COUNT, 0.0, told[0].seconds_left)
    assert told[0].seconds_left == pytest.approx(2.0 * COUNT, rel=0.1)  # assumed of a new model
    assert {each.done for each in told} >= set(range(COUNT))


def test_texts_are_counted_as_they_are_embedded(
    team: Team, told: list[JobProgress], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TeamServices, "_embedder", lambda *_: Letters())
    ready = configure_scorer("reference_match", {"embedding_provider": "local"})
    monkeypatch.setattr(stages, "REPORT_SECONDS", 0.0)
    asks = expected_calls(team, ready, CASES)
    with use_services(ReportingServices(begun(team), TeamServices(team), asks)):
        ready.score(CASES)
    assert [each.done for each in told] == [0, Letters.step, 2 * Letters.step, COUNT + 1]
    assert {(each.doing, each.total) for each in told} == {("texts embedded", COUNT + 1)}
