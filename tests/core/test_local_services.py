"""Who answers without a database: local vectors, the endpoint of the environment, or nobody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scoring.core import local_services, services
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.llm.endpoint import Endpoint
from tests.stub.server import Stub


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as running:
        local_services.configure_local_services(
            Endpoint("environment", running.url(), allowed_hosts=running.hosts)
        )
        yield running
    local_services.configure_local_services(None)


@pytest.mark.parametrize(
    ("connection", "code"),
    [(None, "no_key"), ("environment", "no_key"), ("own", "connection_missing")],
)
def test_without_a_key_nobody_answers(connection: str | None, code: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        services.current_services().embed(
            ["a"], provider="openai", model="m", connection=connection
        )
    assert caught.value.code == code


def test_a_scorer_never_saved_takes_the_endpoint_where_there_is_one(stub: Stub) -> None:
    cases = [Case("one", ["one", "two"]), Case("two", "two")]
    scorer = configure_scorer("reference_match", {})
    for _ in range(2):  # the second time from memory
        first, second = scorer.score(cases)
        assert (first.score, second.score) == (1.0, 1.0)
        assert first.metadata["model"] == "text-embedding-3-small"
    assert [asked.body["input"] for asked in stub.requests] == [["one", "two"]]


def test_a_scorer_that_names_a_connection_gets_an_error_that_says_so(stub: Stub) -> None:
    config = {"embedding_provider": "openai", "connection": "own"}
    (result,) = configure_scorer("reference_match", config).score([Case("a", "b")])
    assert (result.status, result.code) == ("error", "connection_missing")


JUDGE = {"model": "stub-1"}


def test_a_judge_asks_the_endpoint_and_remembers_its_replies(stub: Stub) -> None:
    scorer = configure_scorer("factuality", JUDGE)
    first, second = (scorer.score([Case("Paris", "Paris")])[0] for _ in range(2))
    assert (first.score, second.score) == (0.4, 0.4)
    assert (first.metadata["cached"], second.metadata["cached"]) == (False, True)
    assert second.metadata["cost_usd"] == 0.0
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("connection", "code"),
    [(None, "no_key"), ("environment", "no_key"), ("own", "connection_missing")],
)
def test_without_a_key_a_judge_is_an_error(connection: str | None, code: str) -> None:
    (result,) = configure_scorer("factuality", {**JUDGE, "connection": connection}).score(
        [Case("a", "b")]
    )
    assert (result.status, result.code, result.score) == ("error", code, None)
    assert result.metadata["attempts"] == 0
