"""`manage.py evaluate` with judges: what it costs and what it says when nobody can be asked."""

from __future__ import annotations

import json

import pytest
from pytest_django.fixtures import Settings

from scoring.core.embeddings import local as embedding_local
from scoring.models import Connection, Dataset, Run, Scorer, Suite, Team
from tests.conftest import MakeDataset, MakeOutputs
from tests.management.commands.test_evaluate import Ended, evaluate
from tests.stub import Stub

pytestmark = pytest.mark.django_db(transaction=True)

PRICED = {"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0}


def suite_of(team: Team, kind: str = "factuality", **config: object) -> None:
    scorer = Scorer.objects.define(team, "judge", kind, config)
    Dataset.objects.update(suite=Suite.objects.define(team, "release", [(scorer, None)]))


@pytest.fixture(autouse=True)
def answers(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
    version = make_dataset([{"expected": "Paris", "input": n} for n in range(4)])
    make_outputs(version, ["Paris", "Paris.", "Rome", "Paris?"])


@pytest.fixture
def judge(team: Team, stub: Stub) -> None:
    Connection.objects.define(team, "main", stub.url("same"), offered=[PRICED], by=None)
    suite_of(team, model="stub-1")


def facts(ended: Ended) -> list[str]:
    return [line for line in ended.out.splitlines() if line.startswith("judges:")]


def test_cost_and_calls_are_printed(judge: None, stub: Stub) -> None:
    ended = evaluate("Answers")
    assert (ended.code, ended.err, len(stub.requests)) == (0, "", 4)
    assert facts(ended) == ["judges: 4 paid calls, 400 tokens in, 80 out, 0.0400 USD"]
    again = evaluate("Answers", "--name", "again")
    assert facts(again) == ["judges: 0 paid calls, all replies were kept ones or did not come"]
    assert len(stub.requests) == 4


def test_json_has_the_figures(judge: None) -> None:
    found = json.loads(evaluate("Answers", "--json", "--budget", "1").out)
    names = "judge_calls", "judge_tokens_in", "judge_tokens_out", "judge_cost_usd", "budget_usd"
    assert [found[name] for name in names] == [4, 400, 80, pytest.approx(0.04), 1.0]


def test_a_budget_of_nothing_asks_nobody(judge: None, stub: Stub) -> None:
    ended = evaluate("Answers", "--budget", "0", "--gate", "pass_rate>=0.5")
    assert (ended.code, stub.requests) == (1, [])
    assert "undecided: 4 of 4 have no output, have an error" in ended.out
    assert Run.objects.get().budget_usd == 0.0


@pytest.mark.parametrize("text", ["-1", "much", "nan", "inf"])
def test_a_budget_is_an_amount(judge: None, text: str) -> None:
    ended = evaluate("Answers", f"--budget={text}")
    assert "is no amount in US dollars; write it like 2.50" in ended.err
    assert not Run.objects.exists()


def test_an_unknown_price_makes_an_unknown_cost(judge: None) -> None:
    Connection.objects.update(offered=[])
    assert facts(evaluate("Answers"))[0].endswith("cost not known: no price is set")


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ({"model": "stub-1"}, "factuality", "connection_missing"),
        ({"embedding_provider": "openai"}, "reference_match", "connection_missing"),
    ],
)
def test_without_anybody_to_ask_every_case_says_so(
    team: Team, settings: Settings, config: dict[str, object], kind: str, said: str
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    suite_of(team, kind, **config)
    ended = evaluate("Answers")
    assert (ended.code, "4 error" in ended.out) == (0, True)
    why = "there is no default connection; set one, or set OPENAI_API_KEY"
    cause = f"4 {said} of judge, such as: {why}"
    assert cause in ended.out
    (summary,) = (scorer.summary for scorer in Run.objects.get().scorers.all())
    assert summary.causes == {said: 4}


def test_a_missing_extra_says_how_to_install_it(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite_of(team, "reference_match", embedding_provider="local")
    embedding_local._load_model.cache_clear()
    monkeypatch.setattr(embedding_local, "is_installed", lambda: False)
    ended = evaluate("Answers", "--junit", "/dev/null")
    assert ended.code == 0
    assert "4 embeddings_missing of judge, such as: local embeddings are not installed" in ended.out
    assert "pip install -r requirements-embeddings.txt" in ended.out
