"""`manage.py evaluate --generate`: outputs made by calling a model, then scored."""

from __future__ import annotations

import json

import pytest
from pytest_django.fixtures import Settings

from scoring.models import Connection, Dataset, Generation, OutputSet, Run, Scorer, Suite, Team
from tests.conftest import MakeDataset
from tests.management.commands.test_evaluate import Ended, evaluate
from tests.stub import Asked, Stub, wire

pytestmark = pytest.mark.django_db(transaction=True)

PRICED = {"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0}
PROMPT = "What is {{ input.q }}?"


def answer(asked: Asked) -> wire.Answer:
    return wire.completion("yes" if "one" in asked.user else "no")


@pytest.fixture
def connected(team: Team, stub: Stub) -> Connection:
    stub.play("model", answer)
    return Connection.objects.define(team, "main", stub.url("model"), offered=[PRICED], by=None)


@pytest.fixture(autouse=True)
def dataset(team: Team, make_dataset: MakeDataset) -> Dataset:
    cases = [{"input": {"q": word}, "expected": "yes"} for word in ("one", "two")]
    made = make_dataset(cases).dataset
    scorer = Scorer.objects.define(team, "same", "exact_match", {})
    made.suite = Suite.objects.define(team, "release", [(scorer, None)])
    made.save()
    return made


def generate(*more: str, prompt: str = PROMPT) -> Ended:
    return evaluate("Answers", "--generate", "stub-1", "--prompt", prompt, *more)


def test_outputs_are_made_and_scored(connected: Connection, stub: Stub) -> None:
    ended = generate("--trials", "2", "--series", "weekly", "--dated", "2016-11-20", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["verdicts"] == {"pass": 1, "fail": 1, "error": 0, "skipped": 0}
    assert {asked.user for asked in stub.requests} == {"What is one?", "What is two?"}
    assert len(stub.requests) == 4
    outputs = OutputSet.objects.get()
    assert (outputs.state, outputs.series, outputs.output_count) == ("ready", "weekly", 4)
    assert outputs.dated.isoformat() == "2016-11-20T00:00:00+00:00"


def test_a_named_connection_is_used(
    team: Team, connected: Connection, stub: Stub, settings: Settings
) -> None:
    stub.play("other", wire.completion("maybe"))
    other = Connection.objects.define(team, "other", stub.url("other"), by=None)
    assert generate("--connection", "other").code == 0
    assert Generation.objects.get().connection == other
    assert {asked.scenario for asked in stub.requests} == {"other"}


def test_the_budget_holds_for_what_is_made(connected: Connection, stub: Stub) -> None:
    ended = generate("--budget", "0", "--gate", "pass_rate>=0.5")
    assert (ended.code, stub.requests) == (1, [])
    assert Run.objects.get().budget_usd == 0


def test_a_suite_that_cannot_score_leaves_no_outputs_behind(
    team: Team, connected: Connection
) -> None:
    Suite.objects.define(team, "empty", [])
    ended = generate("--suite", "empty")
    assert ended.code == 2
    assert not OutputSet.objects.exists()
