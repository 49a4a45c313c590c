from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from pytest_django.fixtures import Settings

from scoring.core import registry
from scoring.core.config import Config
from scoring.core.contract import Case, Result, ServiceError
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.embeddings.local import LocalModel
from scoring.core.services import CallFailure, Message, Question, Reply, current_services
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.services import team_services
from scoring.engine.services.team_services import (
    RunStoppedError,
    TeamServices,
    open_run_services,
    services_for,
)
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import CallPurpose, Connection, Embedding, ModelCall, Run, Team
from tests.stub import Stub
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of

pytestmark = pytest.mark.django_db

QUESTION = Question("stub-1", (Message("user", "Is it so?"),))


@pytest.fixture
def run(make_run: MakeRun, make_scorer: MakeScorer) -> Run:
    return make_run(["yes", None], make_scorer("exact_match"))


@pytest.fixture
def connection(team: Team, stub: Stub) -> Connection:
    return Connection.objects.define(team, "main", stub.url("ok"), by=None)


class TestAsking:
    @pytest.mark.django_db(transaction=True)
    def test_the_teams_default_connection_is_asked_once(
        self, team: Team, connection: Connection, stub: Stub
    ) -> None:
        first, again = (TeamServices(team).ask([QUESTION])[0] for _ in range(2))
        assert isinstance(first, Reply)
        assert isinstance(again, Reply)
        assert (first.text, first.is_cached) == (again.text, False)
        assert (again.is_cached, again.cost_usd, again.ref) == (True, 0.0, first.ref)
        assert ModelCall.objects.get().connection_name == "main"
        assert len(stub.requests) == 1

    @pytest.mark.django_db(transaction=True)
    def test_what_no_run_pays_has_a_purpose_of_its_own(
        self, team: Team, connection: Connection
    ) -> None:
        TeamServices(team, purpose=CallPurpose.TRY).ask([QUESTION])
        assert ModelCall.objects.values_list("run", "purpose").get() == (None, "try")

    @pytest.mark.parametrize(
        ("name", "code", "said"),
        [
            (None, "connection_missing", "there is no default connection; set one"),
            ("gone", "connection_missing", "the team has no connection called 'gone' any more"),
            ("environment", "no_key", "no endpoint is set; set OPENAI_API_KEY"),
        ],
    )
    def test_where_nobody_can_be_asked_it_says_what_to_do(
        self, team: Team, settings: Settings, name: str | None, code: str, said: str
    ) -> None:
        settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
        (fault,) = TeamServices(team).ask([Question("m", (), connection=name)])
        assert isinstance(fault, CallFailure)
        assert (fault.code, fault.attempts, fault.can_retry) == (code, 0, False)
        assert fault.text.startswith(said)

    def test_a_connection_of_another_team_is_none_of_ours(
        self, connection: Connection, stub: Stub
    ) -> None:
        other = Team.objects.create(name="Other", slug="other")
        (fault,) = TeamServices(other).ask([Question("m", (), connection="main")])
        assert isinstance(fault, CallFailure)
        assert (fault.code, stub.requests) == ("connection_missing", [])

    def test_a_connection_is_looked_up_once(
        self, team: Team, django_assert_num_queries: Any
    ) -> None:
        asked = TeamServices(team)
        with django_assert_num_queries(1):
            asked.ask([Question("m", (), connection="gone")] * 5)
            asked.ask([Question("m", (), connection="gone")])


class TestEmbedding:
    def test_an_endpoints_vectors_are_kept(
        self, team: Team, connection: Connection, stub: Stub
    ) -> None:
        def embed() -> Any:
            return TeamServices(team).embed(["a", "b", "a"], provider="openai", model="e").matrix

        first, again = embed(), embed()
        assert first.shape == (3, 16)
        assert np.array_equal(first[0], first[2])
        assert np.array_equal(first, again)
        assert (Embedding.objects.count(), len(stub.requests)) == (2, 1)

    def test_without_an_endpoint_there_are_none(self, team: Team) -> None:
        with pytest.raises(EmbeddingError, match="no connection called 'gone'") as caught:
            TeamServices(team).embed(["a"], provider="openai", model="e", connection="gone")
        assert caught.value.code == "connection_missing"

    def test_local_ones_need_no_connection(
        self, team: Team, minilm: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = np.eye(2, dtype=np.float32)
        monkeypatch.setattr(LocalModel, "compute", lambda *_: (rows, [False, False]))
        found = TeamServices(team).embed(["a cat", "a kitten"], provider="local", model=minilm)
        assert np.array_equal(found.matrix, rows)
        assert Embedding.objects.count() == 2


class TestOfARun:
    def test_its_shards_share_them_while_anybody_has_them(self, run: Run) -> None:
        made = open_run_services(run)
        with services_for(run):
            assert current_services() is made
        assert open_run_services(run) is not made
        del made
        gc.collect()
        with services_for(run):
            assert isinstance(current_services(), TeamServices)
        gc.collect()
        assert run.pk not in team_services._of_runs

    def test_stopped_ones_store_nothing(self, run: Run) -> None:
        made = open_run_services(run)
        made.stop()
        with pytest.raises(RunStoppedError), services_for(run):
            assert current_services() is made

    @pytest.mark.django_db(transaction=True)
    def test_stopped_ones_ask_nobody(self, run: Run, connection: Connection, stub: Stub) -> None:
        made = open_run_services(run)
        made.stop()
        (fault,) = made.ask([QUESTION])
        assert isinstance(fault, CallFailure)
        assert (fault.code, stub.requests) == ("cancelled", [])

    @pytest.mark.parametrize(
        "price", [{}, {"usd_per_million_in": 1.0}, {"usd_per_million_out": 1.0}]
    )
    def test_a_budget_of_nothing_needs_the_whole_price_all_the_same(
        self, run: Run, team: Team, stub: Stub, price: dict[str, float]
    ) -> None:
        offered = [{"name": QUESTION.model, **price}]
        Connection.objects.define(team, "main", stub.url("ok"), offered=offered, by=None)
        run.budget_usd = 0.0
        (fault,) = open_run_services(run).ask([QUESTION])
        assert isinstance(fault, CallFailure)
        assert fault.code == "price_missing"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (ServiceError("nobody there", retry=True), "service_failed"),
        (EmbeddingError("embeddings_missing", "nobody there"), "embeddings_missing"),
    ],
)
def test_a_service_that_fails_as_a_whole_costs_no_row(
    make_run: MakeRun,
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
    fault: ServiceError,
    code: str,
) -> None:
    def fail(cases: list[Case], config: Config) -> list[Result]:
        raise fault

    kind = registry.ScorerType("failing", "", "", Config, fail, 0.5, "llm")
    monkeypatch.setitem(registry.CUSTOM_TYPES, "failing", kind)
    monkeypatch.setattr("scoring.engine.runs.execution._configured", {})
    run = make_run(["a", "b"], make_scorer("failing"), make_scorer("exact_match"))
    run_to_end(run, InlineExecutor())
    assert run.state == "finished"
    failed = [row[3:8] for row in rows_of(run) if row[0] == "failing"]
    assert failed == [(1, None, None, code, "nobody there")] * 2
    assert len(rows_of(run)) == 4
