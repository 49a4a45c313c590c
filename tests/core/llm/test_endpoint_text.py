"""What an endpoint says is shown and exported, so no key may pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from scoring.core.contract import Case
from scoring.core.llm.endpoint_text import EXCERPT, CallTarget
from scoring.core.services import Reply
from tests.stub.wire import Answer, completion, error, html, json_answer, verdict
from tests.support.judges import Bench, question
from tests.support.speed import quick_enough

KEY = "sk-secret+1234/ab=="
TARGET = CallTarget("main", "m", KEY)

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in a URL": lambda key: quote(key, safe=""),
    "as JSON of PHP": lambda key: key.replace("/", "\\/"),
    "as JSON of .NET": lambda key: key.replace("+", "\\u002B").replace("=", "\\u003d"),
    "as JSON in JSON": lambda key: json.dumps(json.dumps(key.replace("/", "\\/"))),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_the_key_is_taken_out_however_it_is_written(form: Callable[[str], str]) -> None:
    clean = TARGET.clean_text(f"got Authorization: Bearer {form(KEY)}!")
    assert "secret" not in clean
    assert "1234" not in clean
    assert clean.startswith("got Authorization: Bearer ")


@pytest.mark.parametrize(
    "text",
    [
        "upstream said: Bearer eyJhbGciOi1.abc",
        "litellm: sk-proj-abcdefgh12345678901 is not valid",
        '{"x-api-key": "0123456789abcdef0123"}',
        "api_key=0123456789abcdef",
    ],
)
def test_what_looks_like_another_key_is_taken_out_of_errors(text: str) -> None:
    clean = TARGET.clean_line(text)
    assert "[key]" in clean
    assert not any(char.isdigit() for char in clean)


@pytest.mark.parametrize(
    "text",
    [
        "Bearer authentication is required.",
        "This key-value-store-is-not-supported here",
        "The secret: try again in 20 seconds",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert TARGET.clean_line(text) == text


def test_a_key_that_is_a_word_leaves_texts_as_they_are() -> None:
    assert CallTarget("local", "m", "ollama").clean_text("ollama runs") == "ollama runs"


def test_no_half_of_a_key_is_left_by_cutting() -> None:
    line = TARGET.clean_line("x" * (EXCERPT - 5) + " " + KEY)
    assert len(line) <= EXCERPT
    assert "sk-" not in line


def test_a_line_is_one_line_that_every_database_stores() -> None:
    assert TARGET.clean_line("a\n\0b\ud83d") == "a \N{REPLACEMENT CHARACTER}b?"


HOSTILE: dict[str, str] = {
    "backslashes": "\\",
    "beginnings of keys": "sk-",
    "beginnings of this key": "sk-secret+1234/ab=",
    "words before keys": "api_key: bearer ",
    "percents": "%73",
    "escapes": "\\u0073",
    "spaces": "bearer          ",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=list(HOSTILE))
def test_no_text_takes_time_by_the_square_of_its_length(part: str) -> None:
    """An endpoint may send 8 MB of it, and all calls of the worker would wait."""
    text = part * (500_000 // len(part))
    with quick_enough(2.0):
        TARGET.clean_text(text)
        TARGET.clean_line(text)


def test_a_key_with_backslashes_is_taken_out_in_no_time() -> None:
    target = CallTarget("main", "m", "\\" * 40 + "x")
    assert target.clean_text("\\" * 100_000) == "\\" * 100_000
    assert target.clean_text(f"got {target.key}!") == "got [key]!"


def test_the_key_is_not_in_what_describes_a_target() -> None:
    assert "secret" not in repr(TARGET)


ECHO = "invalid header Authorization: Bearer sk-secret-1234 \0"
ECHOES: dict[str, Answer] = {
    **{
        f"{status}": error(status, ECHO, code=ECHO, param=ECHO)
        for status in (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)
    },
    "200 error": json_answer({"error": {"message": ECHO, "code": 10**30}}),
    "html": html(),
    "type": Answer(200, b"no JSON", content_type="text/sk-secret-1234"),
    "reply": completion(ECHO, finish="sk-secret-1234" * 9, model="sk-secret-1234"),
    "refusal": completion(None, refusal=ECHO),
    "verdict": verdict("sk-secret-1234", reasons=ECHO),
    "reasons": verdict("C", reasons=ECHO),
}


@pytest.mark.parametrize("answer", ECHOES.values(), ids=list(ECHOES))
def test_no_answer_of_an_endpoint_tells_the_key(bench: Bench, answer: Answer) -> None:
    bench.stub.play("echo", answer)
    result = bench.result("echo")
    replies: list[Any] = [reply for _, reply, _ in bench.kept.written]
    for told in (result, *replies):
        assert "sk-secret" not in str(told)
        assert "\0" not in str(told)


def test_names_from_an_endpoint_fit_their_columns(bench: Bench) -> None:
    bench.stub.play("long", completion("Hi", finish="f" * 999, model="m" * 999))
    (reply,) = bench.caller(bench.endpoint("long")).ask([question()])
    assert isinstance(reply, Reply)
    assert (len(reply.finish), len(reply.model)) == (40, 200)


def test_an_embedding_endpoint_tells_no_key_either(bench: Bench) -> None:
    from scoring.core.embeddings.errors import EmbeddingError
    from scoring.core.embeddings.remote import RemoteModel

    bench.stub._scripts["echo"] = lambda _: error(400, ECHO)
    remote = RemoteModel(bench.endpoint("echo"), "m-1", bench.pool)
    with pytest.raises(EmbeddingError) as fault:
        remote.compute(["x"])
    assert "[key]" in str(fault.value)
    assert "sk-secret" not in str(fault.value)


def test_a_case_of_the_same_words_is_scored_all_the_same(bench: Bench) -> None:
    bench.stub.play("word", completion('{"reasons": "none", "choice": "C"}'))
    (result,) = bench.results("word", [Case("a", "a")], api_key="none")
    assert result.metadata["reasons"] == "none"
