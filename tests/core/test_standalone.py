"""Who answers without a database: local vectors, the endpoint of the environment, or nobody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scoring.core import services, standalone
from scoring.core.bound import bind
from scoring.core.contract import Case
from scoring.core.embed.faults import EmbeddingError
from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.ledger import RecentReplies
from scoring.core.services import Question, Reply
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


JUDGE = {"model": "stub-1"}


def test_a_judge_asks_the_endpoint_and_remembers_its_replies(stub: Stub) -> None:
    scorer = bind("factuality", JUDGE)
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
    (result,) = bind("factuality", {**JUDGE, "connection": connection}).score([Case("a", "b")])
    assert (result.status, result.code, result.score) == ("error", code, None)
    assert result.metadata["attempts"] == 0


def test_only_the_newest_replies_stay_in_memory() -> None:
    kept = RecentReplies(most=2)
    for key in ("a", "b", "c", None):
        kept.keep(key, Question("m", ()), Reply(key or "useless", cost_usd=1.0))
    found = kept.get_many(["a", "b", "c"])
    assert {key: reply.text for key, reply in found.items()} == {"b": "b", "c": "c"}
    assert all(reply.is_cached and reply.cost_usd == 0.0 for reply in found.values())
