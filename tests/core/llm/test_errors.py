"""Every fault of an endpoint, through the real scorer and client: its code, never a score."""

from __future__ import annotations

import json
import tracemalloc
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from scoring.core.contract import Case
from scoring.core.llm.endpoint_text import CallTarget
from scoring.core.llm.errors import classify_error
from scoring.core.llm.guarded_transport import MAX_REPLY_BYTES
from tests.stub import closed_port
from tests.stub.wire import Answer, completion, error, json_answer, rate_limited, verdict
from tests.support.judges import NOON, VERDICT, Bench

# scenario, code, attempts, words of the reason
ERRORS = [
    ("key-refused", "key_refused", 1, "401"),
    ("quota", "quota_exhausted", 1, "quota"),
    ("model-missing", "model_missing", 1, "'stub-1'"),
    ("wrong-path", "not_an_api", 1, "check the base URL"),
    ("too-long", "context_too_long", 1, "411525 tokens"),
    ("html", "not_an_api", 1, "text/html"),
    ("redirect", "not_an_api", 1, "302"),
    ("no-json", "not_an_api", 1, "no chat completion"),
    ("no-choices", "reply_empty", 1, "empty"),
    ("down", "endpoint_failed", 5, "500"),
    ("html-error", "endpoint_failed", 5, "502"),
    ("cut", "endpoint_failed", 5, "broke off"),
    ("rate-limited", "rate_limited", 5, "Rate limit reached"),
    ("rate-limited-absurd", "rate_limited", 1, "until 2026-03-15 12:00 UTC"),
    ("invalid-json", "reply_unparsable", 1, "not one JSON object"),
    ("prose", "reply_unparsable", 1, "no JSON object, but"),
    ("other-shape", "reply_unparsable", 1, "reasons and choice"),
    ("two-verdicts", "several_verdicts", 1, "more than one"),
    ("off-menu", "choice_unknown", 1, '"F"'),
    ("empty", "reply_empty", 1, "empty"),
    ("truncated", "reply_truncated", 1, "cut off"),
    ("too-large", "reply_too_large", 1, "8 MB"),
]


@pytest.mark.parametrize(
    ("scenario", "code", "attempts", "words"), ERRORS, ids=[row[0] for row in ERRORS]
)
def test_a_fault_is_an_error_with_its_code_and_attempts_and_no_score(
    bench: Bench, scenario: str, code: str, attempts: int, words: str
) -> None:
    result = bench.result(scenario)
    assert (result.status, result.score, result.verdict) == ("error", None, None)
    assert (result.code, result.metadata["attempts"]) == (code, attempts)
    assert words in result.reason
    assert len(bench.stub.asked(scenario)) == attempts
    assert "sk-secret" not in str(result)


@pytest.mark.parametrize("scenario", ["refusal", "content-filter", "prompt-filter"])
def test_a_refusal_is_skipped_and_no_score(bench: Bench, scenario: str) -> None:
    result = bench.result(scenario)
    assert (result.status, result.code, result.score) == ("skipped", "refused", None)
    assert len(bench.stub.asked(scenario)) == 1


# scenario, attempts, pauses in seconds
SCORES: list[tuple[str, int, list[Any]]] = [
    ("same", 1, []),
    ("fenced", 1, []),
    ("no-schema", 1, []),
    ("no-temperature", 1, []),
    ("rate-limited-once", 2, [7.0]),
    ("rate-limited-bare", 3, [pytest.approx(0.375, abs=0.13), pytest.approx(0.75, abs=0.26)]),
    ("burst", 4, [pytest.approx(step, rel=0.34) for step in (0.375, 0.75, 1.5)]),
]


@pytest.mark.parametrize(("scenario", "attempts", "pauses"), SCORES, ids=[row[0] for row in SCORES])
def test_what_passes_by_itself_ends_in_a_score(
    bench: Bench, scenario: str, attempts: int, pauses: list[Any]
) -> None:
    result = bench.result(scenario)
    assert (result.status, result.score, result.verdict) == ("scored", 1.0, "pass")
    assert result.metadata["attempts"] == attempts
    assert bench.clock.slept == pauses


def test_a_refused_connection_is_tried_five_times(bench: Bench) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    result = bench.result("ok", base_url=url)
    assert (result.status, result.code, result.score) == ("error", "endpoint_unreachable", None)
    assert result.metadata["attempts"] == 5
    assert "check the base URL" in result.reason
    assert len(bench.clock.slept) == 4
    assert bench.clock.slept == sorted(bench.clock.slept)


def test_an_address_that_is_not_allowed_is_never_called(bench: Bench) -> None:
    result = bench.result("same", allowed_hosts=frozenset())
    assert (result.code, result.metadata["attempts"]) == ("endpoint_unreachable", 1)
    assert "local network" in result.reason
    assert not bench.stub.requests


@pytest.mark.parametrize("scenario", ["hang", "drip"])
def test_a_call_ends_at_its_time_limit_however_it_is_spun_out(bench: Bench, scenario: str) -> None:
    result = bench.result(scenario, timeout_seconds=0.2)
    assert (result.status, result.code, result.score) == ("error", "timeout", None)
    assert result.metadata["attempts"] == 2
    assert "0.2 seconds" in result.reason


RETRY_AFTER = [
    ("0", 0.0),
    ("12", 12.0),
    ("0.5", 0.5),
    (format_datetime(NOON + timedelta(seconds=90), usegmt=True), 90.0),
    (format_datetime(NOON - timedelta(days=1), usegmt=True), 0.0),
    ("300", 300.0),
]


@pytest.mark.parametrize(("header", "seconds"), RETRY_AFTER, ids=[row[0] for row in RETRY_AFTER])
def test_retry_after_is_kept_to_the_second(bench: Bench, header: str, seconds: float) -> None:
    bench.stub.play("polite", [rate_limited(header), verdict("C")])
    result = bench.result("polite")
    assert (result.score, result.metadata["attempts"]) == (1.0, 2)
    assert sum(bench.clock.slept) == pytest.approx(seconds)


@pytest.mark.parametrize("header", ["soon", "-5", "NaN", "inf", "Thu, 99 Foo 2026", "1e999", ""])
def test_a_retry_after_without_sense_is_no_retry_after(bench: Bench, header: str) -> None:
    bench.stub.play("odd", [rate_limited(header), verdict("C")])
    assert bench.result("odd").score == 1.0
    assert sum(bench.clock.slept) < 1


@pytest.mark.parametrize(
    ("header", "until"),
    [
        ("301", "2026-03-14 12:05 UTC"),
        (format_datetime(NOON + timedelta(hours=6), usegmt=True), "2026-03-14 18:00 UTC"),
        ("1e300", "a far day"),
    ],
)
def test_a_pause_beyond_five_minutes_is_said_and_not_waited_for(
    bench: Bench, header: str, until: str
) -> None:
    bench.stub.play("absurd", rate_limited(header))
    results = bench.results("absurd", [Case(str(n), "x") for n in range(40)])
    assert {result.code for result in results} == {"rate_limited"}
    assert all(f"until {until}" in result.reason for result in results)
    assert bench.clock.slept == []
    assert len(bench.stub.asked("absurd")) <= bench.endpoint().concurrency


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_an_endpoint_that_is_away_for_long_is_not_waited_for_either(
    bench: Bench, status: int
) -> None:
    headers = {"retry-after": "86400"}
    bench.stub.play("away", error(status, "Down for maintenance.", headers=headers))
    results = bench.results("away", [Case(str(n), "x") for n in range(40)])
    assert {(result.code, result.metadata["attempts"]) for result in results} <= {
        ("endpoint_failed", 1),
        ("endpoint_failed", 0),
    }
    until = f"not available ({status}) until 2026-03-15 12:00 UTC"
    assert all(until in result.reason for result in results)
    assert bench.clock.slept == []
    assert len(bench.stub.asked("away")) <= bench.endpoint().concurrency


def test_a_reply_of_100_mb_is_cut_and_the_memory_stays(bench: Bench) -> None:
    bench.result("same")
    tracemalloc.start()
    try:
        assert bench.result("too-large").code == "reply_too_large"
        assert MAX_REPLY_BYTES / 2 < tracemalloc.get_traced_memory()[1] < 3 * MAX_REPLY_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (error(402, "Add credits."), "quota_exhausted"),
        (
            error(429, "Spent.", code="project_spend_limit_exceeded"),
            "quota_exhausted",
        ),
        (error(403, "Country not supported."), "key_refused"),
        (
            json_answer({"message": "The model `x` does not exist.", "code": 404}, 404),
            "model_missing",
        ),
        (json_answer({"error": "model 'x' not found"}, 404), "model_missing"),
        (json_answer({"detail": "Not Found"}, 404), "not_an_api"),
        (error(400, "Prompt is too long: 9 tokens > 8 maximum"), "context_too_long"),
        (error(413, "Request too large."), "context_too_long"),
        (error(400, "Invalid value: 'user'."), "bad_request"),
        (json_answer({"detail": [{"loc": ["body", "model"], "msg": "bad"}]}, 422), "bad_request"),
        (error(504, "upstream"), "timeout"),
        (error(408, "slow"), "timeout"),
        (error(529, "overloaded"), "endpoint_failed"),
        (Answer(500, b"[" * 100_000), "endpoint_failed"),
        (Answer(200, b"[" * 100_000), "not_an_api"),
        (json_answer({"error": {"message": "no provider", "code": 502}}), "endpoint_failed"),
        (json_answer({"error": {"message": "no credit", "code": 402}}), "quota_exhausted"),
        (json_answer([1, 2]), "not_an_api"),
        (json_answer({"choices": "x"}), "not_an_api"),
        (json_answer({"choices": [None]}), "reply_empty"),
        (json_answer({"choices": [{"message": {"content": {"a": 1}}}]}), "reply_empty"),
        (completion(json.dumps(VERDICT)[:-1] + ', "choice": "D"}'), "several_verdicts"),
        (
            json_answer({"choices": [{"message": {"content": json.dumps(VERDICT)}}] * 2}),
            "several_verdicts",
        ),
    ],
)
def test_other_servers_say_the_same_in_other_words(bench: Bench, answer: Answer, code: str) -> None:
    bench.stub.play("other", answer)
    result = bench.result("other")
    assert (result.status, result.code, result.score) == ("error", code, None)


@pytest.mark.parametrize(
    ("status", "is_pressure"), [(429, True), (503, True), (500, False), (401, False)]
)
def test_what_says_that_there_are_too_many_calls(status: int, is_pressure: bool) -> None:
    problem = classify_error(CallTarget("main", "m"), status, {}, b"", NOON)
    assert problem.is_pressure is is_pressure


def test_content_may_come_in_parts(bench: Bench) -> None:
    text = json.dumps(VERDICT)
    parts = [{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}]
    bench.stub.play("parts", completion(parts))
    assert bench.result("parts").score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        completion(None, refusal="No \ud83d."),
        completion(json.dumps({"reasons": "half \ud83d", "choice": "F \ud83d"})),
        error(400, "half \ud83d"),
    ],
)
def test_half_characters_of_an_endpoint_can_be_written_down(bench: Bench, answer: Answer) -> None:
    bench.stub.play("halves", answer)
    result = bench.result("halves")
    assert json.dumps(result, ensure_ascii=False).encode()
    assert result.score is None


def test_three_failures_of_100_leave_97_scores(bench: Bench) -> None:
    def script(asked: Any) -> Answer:
        is_bad = any(f'"output": "{number}"' in asked.user for number in (7, 70, 99))
        return completion("?") if is_bad else verdict("C")

    bench.stub.play("mostly", script)
    results = bench.results("mostly", [Case(str(n), "x") for n in range(100)])
    assert [n for n, result in enumerate(results) if result.status == "error"] == [7, 70, 99]
    assert sum(result.status == "scored" for result in results) == 97
    bench.stub.play("mostly", verdict("C"))
    before = len(bench.stub.requests)
    again = bench.results("mostly", [Case(str(n), "x") for n in range(100)])
    assert all(result.score == 1.0 for result in again)
    assert len(bench.stub.requests) - before == 3
