"""Embeddings of an endpoint, through the wire: requests, splits, retries and what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.embeddings.cache import MemoryCache, embed_texts
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.embeddings.remote import MAX_BYTES, MAX_TEXTS, RemoteModel
from scoring.core.services import Vectors, use_services
from tests.stub import wire
from tests.stub.scenarios import Asked, Script, always
from tests.stub.server import closed_port
from tests.stub.wire import Answer
from tests.support.coordinates import Coordinates
from tests.support.judges import Bench
from tests.support.waiting import DEADLINE_SECONDS, wait_until


def embedding(asked: Asked) -> Answer:
    return wire.embeddings(asked.body)


def played(bench: Bench, scenario: str, script: Script, **settings: Any) -> RemoteModel:
    """A model behind an endpoint that answers everything by the script."""
    bench.stub._scripts[scenario] = script  # as it is: `play` scripts chat completions only
    return RemoteModel(bench.endpoint(scenario, **settings), "m-1", bench.pool)


def inputs(bench: Bench, scenario: str) -> list[list[str]]:
    return [asked.body["input"] for asked in bench.stub.asked(scenario)]


def test_one_request_names_the_model_and_gives_each_text_its_vector(bench: Bench) -> None:
    remote = played(bench, "plain", embedding)
    vectors = embed_texts(["one", "a", "one", "three"], MemoryCache(), remote)
    (asked,) = bench.stub.asked("plain")
    assert (asked.method, asked.path, asked.body["model"]) == ("POST", "/embeddings", "m-1")
    assert asked.headers["authorization"] == "Bearer sk-secret-1234"
    assert asked.body["input"] == ["a", "one", "three"]
    wanted = [wire._vector(text, 16) for text in ("one", "a", "one", "three")]
    for row, exact in zip(vectors.matrix, wanted, strict=True):
        assert row == pytest.approx(exact, abs=1e-6)
    assert (list(vectors.is_cut), vectors.model) == ([False] * 4, "m-1")


def test_vectors_are_put_in_the_order_of_their_index(bench: Bench) -> None:
    """As lists of numbers, too: not every endpoint knows base64."""
    data = [{"object": "embedding", "index": n, "embedding": [n, 1.0]} for n in (2, 0, 1)]
    answer = wire.json_answer({"object": "list", "data": data, "model": "m-1"})
    matrix, _ = played(bench, "shuffled", always(answer)).compute(["a", "b", "c"])
    assert [row[0] for row in matrix] == [0, 1, 2]


def test_the_empty_text_is_not_sent_and_has_no_vector(bench: Bench) -> None:
    remote = played(bench, "empty", embedding)
    vectors = embed_texts(["", "a"], MemoryCache(), remote)
    assert inputs(bench, "empty") == [["a"]]
    assert not vectors.matrix[0].any()
    assert embed_texts([""], MemoryCache(), remote).matrix.shape == (1, 0)


def test_only_the_endpoints_limits_split_a_request(bench: Bench) -> None:
    remote = played(bench, "many", embedding, concurrency=1)
    texts = [str(n) for n in range(MAX_TEXTS + 1)]
    remote.compute(texts)
    assert inputs(bench, "many") == [texts[:-1], texts[-1:]]
    long = "é" * (MAX_BYTES // 4)
    remote.compute([long, "a", long, "b"])
    assert inputs(bench, "many")[2:] == [[long, "a"], [long, "b"]]


def _short_window(asked: Asked) -> Answer:
    is_long = any(len(text) > 3_000 for text in asked.body["input"])
    return wire.too_long() if is_long else embedding(asked)


def test_a_text_longer_than_the_window_is_cut_and_the_others_stay_whole(bench: Bench) -> None:
    remote = played(bench, "window", _short_window)
    texts = ["a", "b", "c" * 5_000, "d"]
    matrix, is_cut = remote.compute(texts)
    assert list(is_cut) == [False, False, True, False]
    assert matrix[2] == pytest.approx(wire._vector("c" * 2_812, 16), abs=1e-6)  # 0.75 twice
    assert matrix[3] == pytest.approx(wire._vector("d", 16), abs=1e-6)


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        ([wire.rate_limited("7"), wire.rate_limited("0.5"), embedding], [7.0, 0.5]),
        ([wire.overloaded(503), wire.overloaded(500), embedding], [0.5, 1.0]),
        ([wire.rate_limited("soon"), wire.overloaded(502), embedding], [0.5, 1.0]),
    ],
)
def test_a_passing_fault_is_waited_out(
    bench: Bench, answers: list[Any], seconds: list[float]
) -> None:
    def script(asked: Asked) -> Answer:
        answer = answers[asked.number - 1]
        return answer(asked) if callable(answer) else answer

    matrix, _ = played(bench, "passing", script).compute(["a"])
    assert matrix.shape == (1, 16)
    for waited, most in zip(bench.clock.slept, seconds, strict=True):
        assert most / 2 <= waited <= most


@pytest.mark.parametrize(
    ("answer", "code", "text", "requests", "retry"),
    [
        (wire.key_refused(), "key_refused", "main: it refused the key (401)", 1, False),
        (wire.model_missing("m-1"), "model_missing", "main: it has no model 'm-1'", 1, False),
        (wire.quota(), "quota_exhausted", "main: its quota or credit is used up", 1, False),
        (wire.rate_limited(), "rate_limited", "main: it takes no more calls now (429)", 5, True),
        (wire.rate_limited("86400"), "rate_limited", "main: rate-limited until", 1, True),
        (wire.overloaded(), "endpoint_failed", "main: it failed (503)", 5, True),
        (wire.html(), "not_an_api", "main: no embeddings of 'm-1' at this URL", 1, False),
        (wire.html(404), "not_an_api", "main: no embeddings of 'm-1' at this URL", 1, False),
        (wire.unsupported("input"), "bad_request", "main: it did not accept the request", 1, False),
        (wire.json_answer({"data": []}), "not_an_api", "main: no embeddings", 1, False),
        (wire.json_answer([1]), "not_an_api", "main: no embeddings", 1, False),
        (wire.json_answer({"data": [{"index": 0, "embedding": []}]}), "not_an_api", "main", 1,
         False),
        (wire.json_answer({"data": [{"index": 0, "embedding": "AAA="}]}), "not_an_api", "main", 1,
         False),
        (wire.json_answer({"data": [{"index": 0, "embedding": ["x"]}]}), "not_an_api", "main", 1,
         False),
        (wire.json_answer({"data": [{"index": 1, "embedding": [1.0]}]}), "not_an_api", "main", 1,
         False),
    ],
)  # fmt: skip
def test_a_lasting_fault_is_told_by_its_code(
    bench: Bench, answer: Answer, code: str, text: str, requests: int, retry: bool
) -> None:
    with pytest.raises(EmbeddingError) as caught:
        played(bench, "faulty", always(answer)).compute(["a"])
    fault = caught.value
    assert (fault.code, fault.retry) == (code, retry)
    assert fault.text.startswith(text)
    assert "sk-" not in fault.text
    assert len(bench.stub.asked("faulty")) == requests


def test_a_fault_becomes_the_error_of_every_case(bench: Bench) -> None:
    remote = played(bench, "refusing", always(wire.key_refused()))

    class Team(Coordinates):
        def embed(self, texts: Sequence[str], **_: Any) -> Vectors:
            return embed_texts(texts, MemoryCache(), remote)

    with use_services(Team()):
        results = configure_scorer("reference_match", {}).score([Case("a", "b"), Case("c", "d")])
    assert [(result.status, result.code) for result in results] == [("error", "key_refused")] * 2


def test_one_part_that_fails_ends_the_batch_when_the_others_are_answered(bench: Bench) -> None:
    def script(asked: Asked) -> Answer:
        return wire.quota() if asked.number == 1 else embedding(asked)

    texts = [str(n) for n in range(2 * MAX_TEXTS)]
    with pytest.raises(EmbeddingError, match="quota"):
        played(bench, "halves", script).compute(texts)
    assert len(bench.stub.asked("halves")) == 2


def test_an_endpoint_that_is_not_there_can_be_asked_again_later(bench: Bench) -> None:
    endpoint = bench.endpoint(base_url=f"http://127.0.0.1:{closed_port()}/v1")
    with pytest.raises(EmbeddingError, match="main: nobody answers") as caught:
        RemoteModel(endpoint, "m-1", bench.pool).compute(["a"])
    assert (caught.value.code, caught.value.retry) == ("endpoint_unreachable", True)
    assert len(bench.clock.slept) == 4


def test_an_address_that_the_guard_refuses_is_never_called(bench: Bench) -> None:
    remote = played(bench, "hidden", embedding, allowed_hosts=frozenset())
    with pytest.raises(EmbeddingError, match="local network"):
        remote.compute(["a"])
    assert (bench.stub.asked("hidden"), bench.clock.slept) == ([], [])


def test_two_endpoints_never_share_a_vector(bench: Bench) -> None:
    one, other = (played(bench, name, embedding) for name in ("left", "right"))
    assert one.key("a") != other.key("a")
    with_slash = RemoteModel(bench.endpoint(base_url=f"{bench.stub.url('left')}/"), "m-1")
    assert one.key("a") == with_slash.key("a")


def test_a_stop_breaks_off_requests_and_sends_no_more(bench: Bench) -> None:
    remote = played(bench, "hangs", always(Answer(latency=3600)), timeout_seconds=3600)
    faults: list[EmbeddingError] = []

    def compute() -> None:
        try:
            remote.compute(["a"])
        except EmbeddingError as fault:
            faults.append(fault)

    computing = threading.Thread(target=compute)
    computing.start()
    wait_until(lambda: len(bench.stub.asked("hangs")) == 1)
    remote.stop()
    computing.join(DEADLINE_SECONDS)
    compute()
    assert [fault.code for fault in faults] == ["cancelled"] * 2
    assert len(bench.stub.asked("hangs")) == 1


def test_a_number_beyond_all_floats_is_no_vector(bench: Bench) -> None:
    data = [{"index": 0, "embedding": [10**400]}]
    remote = played(bench, "huge", always(wire.json_answer({"data": data})))
    with pytest.raises(EmbeddingError) as fault:
        remote.compute(["a"])
    assert fault.value.code == "not_an_api"
