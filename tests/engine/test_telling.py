"""How far an errand says it is that scores through models, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError

from scoring.core.bound import bind
from scoring.core.contract import Case
from scoring.core.judge import caller
from scoring.core.services import using
from scoring.engine import errands, preview, stages
from scoring.engine.preview import Config
from scoring.engine.services import TeamServices
from scoring.engine.stages import Progress
from scoring.engine.telling import KEPT_SECONDS, Ask, Telling, asks_of
from scoring.models import (
    CallPurpose,
    Connection,
    Errand,
    ErrandKind,
    ErrandState,
    ModelCall,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.core.test_embed_cached import Letters
from tests.engine.conftest import wait_until
from tests.scored import CLOSE, finished_run
from tests.stub import Asked, Stub, wire

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
    monkeypatch.setattr(caller, "HEARD_SECONDS", 0.001)
    monkeypatch.setattr(stages, "TELL_SECONDS", 0.0)
    url = stub.play("judge", wire.verdict("good"))
    Connection.objects.define(team, "own", url, offered=OFFERED, concurrency=1, by=None)
    return stub


def begun(team: Team) -> Errand:
    kind, state = ErrandKind.PREVIEW_SCORER, ErrandState.WORKING
    return Errand.objects.create(team=team, kind=kind, state=state)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """What errands tell from now on."""
    found: list[Progress] = []
    tell = Errand.tell

    def telling(errand: Errand, progress: Any) -> bool:
        found.append(Progress(**progress))
        return tell(errand, progress)

    monkeypatch.setattr(Errand, "tell", telling)
    return found


def patient(told: list[Progress]) -> Callable[[Asked], wire.Answer]:
    """Answers each question once all earlier answers have been told."""
    numbers = count()

    def answer(_: Asked) -> wire.Answer:
        number = next(numbers)
        wait_until(lambda: any(each.done >= number for each in told))
        return wire.verdict("good")

    return answer


def test_replies_are_counted_as_they_come(judge: Stub, team: Team, told: list[Progress]) -> None:
    judge.play("judge", patient(told))
    services, ready = TeamServices(team, purpose=CallPurpose.TRY), bind(*JUDGE)
    with using(Telling(begun(team), services, asks_of(team, ready, CASES))):
        results = ready.score(CASES)
    assert [result.score for result in results] == [1.0] * COUNT
    done = list(dict.fromkeys(each.done for each in told))
    assert done[:COUNT] == list(range(COUNT))
    assert {(each.doing, each.total) for each in told} == {("replies", COUNT)}
    assert all(0 <= each.share <= 1 for each in told)
    assert ModelCall.objects.count() == len(judge.requests) == COUNT


def test_every_part_that_asks_is_foreseen_in_its_order(judge: Stub, team: Team) -> None:
    asks = asks_of(team, bind("weighted", {"scorers": NESTED}), CASES)
    assert [each[:2] for each in asks] == [
        ("replies", COUNT),
        ("texts embedded", COUNT + 1),
        ("replies", 2 * COUNT),
    ]
    assert asks[2].seconds == pytest.approx(2 * asks[0].seconds)
    assert judge.requests == []


def test_what_is_kept_takes_no_time(judge: Stub, team: Team, told: list[Progress]) -> None:
    services, ready = TeamServices(team, purpose=CallPurpose.TRY), bind(*JUDGE)
    with using(services):
        ready.score(CASES[:4])
    (ask,) = asks_of(team, ready, CASES)
    (every,) = asks_of(team, ready, CASES[:4])
    assert (ask.total, every.total) == (COUNT, 4)
    assert every.seconds == pytest.approx(4 * KEPT_SECONDS)
    assert ask.seconds > COUNT * KEPT_SECONDS
    judge.play("judge", patient(told))
    with using(Telling(begun(team), services, [ask])):
        ready.score(CASES)
    first, *heard = (each.done for each in told)
    assert first == 0
    assert heard
    assert set(heard) <= {4, 5, 6}  # never fewer than were kept
    assert len(judge.requests) == COUNT


def test_one_text_is_asked_about_once(judge: Stub, team: Team) -> None:
    ready, same = bind(*JUDGE), [CASES[0]] * COUNT
    asks = asks_of(team, ready, same)
    assert [each.total for each in asks] == [1]
    with using(Telling(begun(team), TeamServices(team, purpose=CallPurpose.TRY), asks)):
        ready.score(same)
    assert len(judge.requests) == 1


def test_what_was_not_foreseen_is_answered_all_the_same(
    judge: Stub, team: Team, told: list[Progress]
) -> None:
    ready = bind(*JUDGE)
    with using(Telling(begun(team), TeamServices(team, purpose=CallPurpose.TRY), [])):
        results = ready.score(CASES)
    assert [result.score for result in results] == [1.0] * COUNT
    assert told == []


def test_an_errand_that_nobody_wants_any_more_stops(judge: Stub, team: Team) -> None:
    errand, ready = begun(team), bind(*JUDGE)
    asks = asks_of(team, ready, CASES)
    telling = Telling(errand, TeamServices(team, purpose=CallPurpose.TRY), asks)
    Errand.objects.filter(pk=errand.pk).update(state=ErrandState.FAILED)
    with using(telling):
        results = ready.score(CASES)
    assert {result.code for result in results} == {"cancelled"}
    assert judge.requests == []


def test_a_database_that_is_busy_costs_no_reply(
    judge: Stub, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(Errand, "tell", busy)
    ready = bind(*JUDGE)
    asks = [Ask("replies", COUNT, 1.0)]
    with using(Telling(begun(team), TeamServices(team, purpose=CallPurpose.TRY), asks)):
        results = ready.score(CASES)
    assert [result.score for result in results] == [1.0] * COUNT


def test_a_preview_says_how_far_it_is(
    judge: Stub,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    told: list[Progress],
) -> None:
    version = make_dataset([{"expected": "right"}] * COUNT)
    run = finished_run(make_outputs(version, [f"Answer {n}." for n in range(COUNT)]), CLOSE)
    judge.play("judge", patient(told))
    sample = preview.sample_of(run, None)
    errand = preview.ask(Config(*JUDGE, 0.5), run, None, sample, alice)
    errands.do(errand)
    errand.refresh_from_db()
    assert errand.state == ErrandState.DONE, errand.problem
    assert [result.verdict for result in preview.answered(errand)] == ["pass"] * COUNT
    assert told[0] == Progress("replies", 0, COUNT, 0.0, told[0].seconds_left)
    assert told[0].seconds_left == pytest.approx(2.0 * COUNT, rel=0.1)  # assumed of a new model
    assert {each.done for each in told} >= set(range(COUNT))


def test_texts_are_counted_as_they_are_embedded(
    team: Team, told: list[Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TeamServices, "_embedder", lambda *_: Letters())
    ready = bind("reference_match", {"embedding_provider": "local"})
    monkeypatch.setattr(stages, "TELL_SECONDS", 0.0)
    asks = asks_of(team, ready, CASES)
    with using(Telling(begun(team), TeamServices(team), asks)):
        ready.score(CASES)
    assert [each.done for each in told] == [0, Letters.step, 2 * Letters.step, COUNT + 1]
    assert {(each.doing, each.total) for each in told} == {("texts embedded", COUNT + 1)}
