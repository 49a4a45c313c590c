"""The stub speaks the provider's wire format: the provider's own client understands it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import httpx2
import openai
import pytest

from tests.stub import RIGHT_KEY, SCENARIOS, Stub, closed_port
from tests.stub.wire import rate_limited, verdict
from tests.support.waiting import DEADLINE_SECONDS

MESSAGES = [{"role": "user", "content": "Is Paris the capital of France?"}]


@pytest.fixture
def clients() -> Iterator[list[openai.OpenAI]]:
    made: list[openai.OpenAI] = []
    yield made
    for client in made:
        client.close()


def _client(clients: list[openai.OpenAI], url: str, key: str = RIGHT_KEY) -> openai.OpenAI:
    http = httpx2.Client(trust_env=False, timeout=DEADLINE_SECONDS)
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, http_client=http)
    clients.append(client)
    return client


def _ask(client: openai.OpenAI) -> openai.types.chat.ChatCompletion:
    return client.chat.completions.create(model="stub-1", messages=MESSAGES)


def test_a_completion_has_content_usage_and_finish(
    stub: Stub, clients: list[openai.OpenAI]
) -> None:
    reply = _ask(_client(clients, stub.url("same")))
    assert (
        reply.choices[0].message.content == '{"reasons": "As the reference says.", "choice": "C"}'
    )
    assert (reply.choices[0].finish_reason, reply.usage.total_tokens) == ("stop", 120)
    assert stub.asked("same")[0].user == MESSAGES[0]["content"]


def test_models_and_embeddings_are_those_of_the_reference(
    stub: Stub, clients: list[openai.OpenAI]
) -> None:
    client = _client(clients, stub.url("ok"))
    assert [model.id for model in client.models.list()] == ["stub-1", "stub-2"]
    asked = {"model": "text-embedding-3-small", "input": ["a", "b", "a"]}
    rows = [each.embedding for each in client.embeddings.create(**asked).data]
    plain = [
        each.embedding for each in client.embeddings.create(**asked, encoding_format="float").data
    ]
    assert rows[0] == rows[2] != rows[1]
    assert rows[0] == pytest.approx(plain[0], abs=1e-6)
    assert math.hypot(*rows[0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("scenario", "kind", "code"),
    [
        ("key-refused", openai.AuthenticationError, "invalid_api_key"),
        ("quota", openai.RateLimitError, "insufficient_quota"),
        ("rate-limited", openai.RateLimitError, "rate_limit_exceeded"),
        ("model-missing", openai.NotFoundError, "model_not_found"),
        ("too-long", openai.BadRequestError, "context_length_exceeded"),
        ("down", openai.InternalServerError, "server_is_overloaded"),
    ],
)
def test_an_error_is_the_exception_the_provider_documents(
    stub: Stub,
    clients: list[openai.OpenAI],
    scenario: str,
    kind: type[openai.APIStatusError],
    code: str,
) -> None:
    with pytest.raises(kind) as caught:
        _ask(_client(clients, stub.url(scenario)))
    assert caught.value.code == code


def test_only_the_right_key_opens_keyed(stub: Stub, clients: list[openai.OpenAI]) -> None:
    assert _ask(_client(clients, stub.url("keyed"))).choices
    with pytest.raises(openai.AuthenticationError):
        _ask(_client(clients, stub.url("keyed"), key="sk-wrong"))


def test_answers_come_in_turn_and_are_counted(stub: Stub, clients: list[openai.OpenAI]) -> None:
    client = _client(clients, stub.play("sulky", [rate_limited("2"), verdict("C")]))
    with pytest.raises(openai.RateLimitError) as caught:
        _ask(client)
    assert caught.value.response.headers["retry-after"] == "2"
    assert _ask(client).choices
    assert _ask(client).choices
    assert [asked.number for asked in stub.asked("sulky")] == [1, 2, 3]


def test_nobody_listens_on_a_closed_port(clients: list[openai.OpenAI]) -> None:
    with pytest.raises(openai.APIConnectionError):
        _ask(_client(clients, f"http://127.0.0.1:{closed_port()}/v1"))


def test_a_scenario_nobody_wrote_has_no_url(stub: Stub) -> None:
    with pytest.raises(KeyError):
        stub.url("no-such-scenario")
    assert stub.url("hang").endswith("/hang/v1")
    assert len(SCENARIOS) >= 30
