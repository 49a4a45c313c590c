from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import error, forced_fail, skipped
from scoring.models.runs.result_rows import (
    METADATA_BYTES,
    REASON_CHARACTERS,
    case_verdicts,
    metadata_text,
    missing_expected,
    score_rows,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=8),
    max_leaves=60,
)


@given(st.dictionaries(st.text(max_size=30), json_values, max_size=10))
def test_metadata_is_small_valid_json_whatever_it_holds(metadata: dict[str, Any]) -> None:
    text = metadata_text(metadata)
    assert len(text.encode()) <= METADATA_BYTES
    assert isinstance(json.loads(text, parse_constant=pytest.fail), dict)


@pytest.mark.parametrize(
    ("metadata", "stored"),
    [
        ({}, {}),
        ({"distance": 3, "truncated": False}, {"distance": 3, "truncated": False}),
        ({"big": 2**70}, {"big": 2**70}),
        ({"bad": float("inf")}, {"bad": None}),
        ({"half": "\ud800"}, {"half": "?"}),
        ({"own": {1, 2}.__class__}, {"own": "<class 'set'>"}),
        ({"pair": (1, "a")}, {"pair": [1, "a"]}),
    ],
)
def test_metadata_becomes_plain_json(metadata: dict[str, Any], stored: dict[str, Any]) -> None:
    assert json.loads(metadata_text(metadata)) == stored


def test_long_metadata_keeps_its_code_and_says_that_it_is_trimmed() -> None:
    leaves = [{"path": f"$.items[{n}]", "expected": "x" * 300, "credit": 0.5} for n in range(50)]
    kept = json.loads(metadata_text({"code": "c", "matched": 1.5, "worst": leaves}))
    assert (kept["code"], kept["matched"], kept["trimmed"]) == ("c", 1.5, True)
    assert kept["worst"][0]["path"] == "$.items[0]"


def scores_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """What each part scored, to any depth, by its name."""
    return {
        part["name"]: scores_of(part["metadata"])
        if "children" in part.get("metadata", {})
        else part.get("score", part["status"])
        for part in metadata["children"]
    }


@pytest.mark.parametrize("reason", ["", "why", "a long reason " * 40])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_every_part_of_a_combination_keeps_its_score(count: int, reason: str) -> None:
    parts = [
        {"name": f"part {n}", "status": "scored", "score": n / 8, "verdict": "fail",
         "reason": reason, "metadata": {"distance": n, "truncated": False}}
        for n in range(count)
    ]  # fmt: skip
    failed = {"name": "failed", "status": "error", "reason": reason}
    inner = {"name": "inner", "status": "scored", "score": 0.5, "verdict": "pass",
             "reason": reason, "metadata": {"children": [*parts, failed]}}  # fmt: skip
    whole = {"children": [inner, failed], "code": "c"}
    kept = json.loads(metadata_text(whole))
    assert len(metadata_text(whole)) <= METADATA_BYTES
    assert (scores_of(kept), kept["code"]) == (scores_of(whole), "c")


def test_a_part_that_asked_keeps_what_it_was_told_as_long_as_there_is_room() -> None:
    judged = {"choice": "B", "attempts": 1, "refs": ["1", "2"], "model": "m" * 60, "cost_usd": 0.1}
    near = {"winner": 2, "references": 3, "similarities": [0.123456] * 3, "provider": "local"}
    parts = [
        {"name": f"part {n}", "status": "scored", "score": 0.6, "verdict": "pass",
         "reason": "why " * 20, "metadata": how}
        for n, how in enumerate([judged, near])
    ]  # fmt: skip
    few = json.loads(metadata_text({"children": parts, "long": "x" * 5_000}))["children"]
    assert few[1]["metadata"] == near
    told = {name: judged[name] for name in ("choice", "attempts", "refs")}
    many = json.loads(metadata_text({"children": parts * 4}))["children"]
    assert [each["metadata"] for each in many] == [told, {"winner": 2, "references": 3}] * 4
    most = json.loads(metadata_text({"children": parts * 7}))["children"]
    assert [(each["score"], each.get("metadata")) for each in most] == [(0.6, None)] * 14


@pytest.mark.parametrize("parts", [7, ["x" * 99] * 99, [{"name": "x" * 2_000}], {"a": "x" * 2_000}])
def test_what_a_custom_scorer_calls_children_is_cut_as_anything_else(parts: Any) -> None:
    kept = json.loads(metadata_text({"children": parts, "long": "x" * 2_000}))
    assert kept["trimmed"]
    assert type(kept["children"]) is type(parts)


def test_metadata_that_nothing_shortens_still_keeps_its_code() -> None:
    wide = {f"key {n}": n for n in range(500)}
    assert json.loads(metadata_text({**wide, "code": "c"})) == {"code": "c", "trimmed": True}


@pytest.mark.parametrize(
    ("reason", "stored"),
    [
        ("plain", "plain"),
        ("naïve ☃", "naïve ☃"),
        ("half \ud800", "half ?"),
        ("nul \0", "nul \ufffd"),
        ("x" * 600, "x" * (REASON_CHARACTERS - 1) + "…"),
    ],
)
def test_a_reason_is_what_a_database_can_keep(reason: str, stored: str) -> None:
    assert score_rows(1, [1], [error("code", reason)])[0][6] == stored


@pytest.mark.parametrize(
    ("code", "stored"), [("a\0b", "a\ufffdb"), ("\ud800", "?"), (["é"] * 20, str(["é"] * 20)[:40])]
)
def test_a_code_is_what_a_database_can_keep(code: Any, stored: str) -> None:
    """A custom scorer may give any; one that cannot be stored would fail the whole shard."""
    assert score_rows(1, [1], [forced_fail(code, "r")])[0][5] == stored


class Odd:
    def __str__(self) -> str:
        return "o\0d"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a\0b", "a\ufffdb"),
        ({"k\0": ["\0", 1, None]}, {"k\ufffd": ["\ufffd", 1, None]}),
        (r"a\u0000b", r"a\u0000b"),
        (["\0", Odd(), {"n": 2**70}], ["\ufffd", "o\ufffdd", {"n": 2**70}]),
    ],
)
def test_metadata_is_what_a_database_can_read(value: Any, kept: Any) -> None:
    """PostgreSQL reads no JSON with NUL in it, and a run's page reads that of judges."""
    assert json.loads(metadata_text({"v": value})) == {"v": kept}


def test_rows_keep_the_order_and_the_code() -> None:
    results = [forced_fail("bad", "r"), skipped("none", "s"), error("down", "e")]
    assert [row[:7] for row in score_rows(7, [3, 1, 2], results)] == [
        (7, 3, 0, 0.0, 1, "bad", "r"),
        (7, 1, 2, None, None, "none", "s"),
        (7, 2, 1, None, None, "down", "e"),
    ]


def test_fewer_results_than_outputs_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_rows(1, [1, 2], [error("down", "e")])


def test_verdicts_and_missing_flags_are_per_output() -> None:
    one = score_rows(1, [1, 2], [forced_fail("expected_missing", ""), skipped("none", "")])
    two = score_rows(2, [1, 2], [error("down", ""), skipped("none", "")])
    assert case_verdicts([one, two]) == [1, 3]
    assert missing_expected([one, two]) == {1}
