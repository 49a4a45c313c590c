"""Who answers without a database: local vectors, the endpoint of the environment, or nobody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scoring.core import services, standalone
from scoring.core.bound import bind
from scoring.core.contract import Case
from scoring.core.embed.faults import EmbeddingError
from scoring.core.judge.endpoint import Endpoint
from tests.core.coordinates import Coordinates
from tests.stub.server import Stub


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as running:
        standalone.configure(Endpoint("environment", running.url(), allowed_hosts=running.hosts))
        yield running
    standalone.configure(None)


def test_the_same_one_answers_every_batch_unless_another_is_named() -> None:
    assert services.current() is services.current()
    other = Coordinates()
    with services.using(other):
        assert services.current() is other
    assert services.current() is standalone.standalone()


@pytest.mark.parametrize(
    ("connection", "code"),
    [(None, "no_key"), ("environment", "no_key"), ("own", "connection_missing")],
)
def test_without_a_key_nobody_answers(connection: str | None, code: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        services.current().embed(["a"], provider="openai", model="m", connection=connection)
    assert caught.value.code == code


def test_a_scorer_never_saved_takes_the_endpoint_where_there_is_one(stub: Stub) -> None:
    cases = [Case("one", ["one", "two"]), Case("two", "two")]
    scorer = bind("reference_match", {})
    for _ in range(2):  # the second time from memory
        first, second = scorer.score(cases)
        assert (first.score, second.score) == (1.0, 1.0)
        assert first.metadata["model"] == "text-embedding-3-small"
    assert [asked.body["input"] for asked in stub.requests] == [["one", "two"]]


def test_a_scorer_that_names_a_connection_gets_an_error_that_says_so(stub: Stub) -> None:
    config = {"embedding_provider": "openai", "connection": "own"}
    (result,) = bind("reference_match", config).score([Case("a", "b")])
    assert (result.status, result.code) == ("error", "connection_missing")
