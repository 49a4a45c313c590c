"""json_match, json_similarity and the leaf table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.config import read_config
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.json_text import compact
from scoring.core.scorers.json_comparison import JsonSimilarityConfig, leaf_table
from tests.support import oracles
from tests.support.scoring import one, refused

LEAVES = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("abé😀", max_size=4)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("output", "expected", "score"),
    [
        ('{"b":2,"a":1}', {"a": 1, "b": 2}, 1.0),
        ('{"b":2,"a":1}', '{"a":1,"b":2}', 1.0),
        ({"a": 1}, {"a": 1}, 1.0),
        ({"a": 1, "b": 2}, {"a": 1}, 0.0),
        ({"a": 1}, {"a": 1, "b": 2}, 0.0),
        ("[1,2,3]", [1, 2, 3], 1.0),
        ("[3,2,1]", [1, 2, 3], 0.0),
        ("[1,2]", [1, 2, 3], 0.0),
        ("[]", [], 1.0),
        ("{}", {}, 1.0),
        ("{}", [], 0.0),
        ("1", 1.0, 1.0),
        ("1e2", 100, 1.0),
        ("true", True, 1.0),
        ('{"a":true}', {"a": 1}, 0.0),
        ('{"a":1}', {"a": True}, 0.0),
        ('{"a":0}', {"a": False}, 0.0),
        ('{"a":null}', {"a": None}, 1.0),
        ('{"a":null}', {}, 0.0),
        ("null", "null", 1.0),
        ('"caf\\u00e9"', '"café"', 1.0),
        ('"1"', "1", 0.0),
        ("9007199254740993", "9007199254740993", 1.0),
        ("9007199254740993", "9007199254740992", 0.0),  # equal as doubles
        ("9007199254740993", 9007199254740992.0, 0.0),
        ("9007199254740993.0", "9007199254740993", 1.0),
        ("9007199254740993.0", 9007199254740993, 1.0),
        ("9007199254740993.0", 9007199254740992, 0.0),
        ('[{"n":1e23}]', '[{"n":100000000000000000000000}]', 1.0),
        ("1e23", 100000000000000000000000, 1.0),
        ("1e23", 1e23, 1.0),
        ("100000000000000000000000", 1e23, 1.0),
        ("0.12345678901234567", "0.12345678901234568", 0.0),
        ("0.10000000000000000001", "0.1", 0.0),  # equal as doubles
        ("0.1", 0.1, 1.0),
        ("-0.0", 0, 1.0),
        ("1e-99999999999999999999", 0, 1.0),
        ('{"a":1.0}', {"a": True}, 0.0),
        ("1" * 400, int("1" * 400), 1.0),
        ('{"0":1}', [1], 0.0),
        ('[{"a":[{"b":{}}]}]', [{"a": [{"b": {}}]}], 1.0),
    ],
)
def test_json_match(output: Any, expected: Any, score: float) -> None:
    assert one("json_match", output, expected).score == score


@pytest.mark.parametrize(
    ("output", "code", "text"),
    [
        ("plain", "invalid_json", "output is not valid JSON: Expecting value at line 1, column 1"),
        ("", "invalid_json", "output is not valid JSON: the text is empty"),
        ('```json\n{"a":1}\n```', "invalid_json", "line 1"),
        ('{"a":1}\n{"a":1}', "invalid_json", "line 2, column 1"),
        ('{"a":1,"a":1}', "duplicate_key", "a appears twice"),
        ('{"a":NaN}', "not_finite", "a is not finite"),
        ("[" * 65 + "]" * 65, "too_deep", "64"),
        ("[" * 100_000, "too_deep", "64"),
        ('"\\ud800"', "invalid_unicode", "half"),
    ],
)
def test_unreadable_outputs_fail_with_a_code(output: str, code: str, text: str) -> None:
    result = one("json_match", output, {"a": 1}, {"threshold": 0})
    assert (result.score, result.verdict, result.code) == (0.0, "fail", code)
    assert text in result.reason


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("plain", "expected_invalid_json"),
        ('{"a":1,"a":1}', "expected_duplicate_key"),
        ([float("nan")], "expected_not_finite"),
    ],
)
def test_unreadable_expected_values_are_errors(expected: Any, code: str) -> None:
    result = one("json_match", "1", expected)
    assert (result.status, result.score, result.code) == ("error", None, code)


@pytest.mark.parametrize(
    ("output", "expected", "matched", "total"),
    [
        # leaves of every kind
        ({"a": "x"}, {"a": "x"}, 1, 1),
        ({"a": "helo"}, {"a": "hello"}, 0.8, 1),
        ({"a": "hello"}, {"a": "Hello"}, 0.8, 1),
        ({"a": ""}, {"a": ""}, 1, 1),
        ({"a": "x"}, {"a": ""}, 0, 1),
        ({"a": True}, {"a": True}, 1, 1),
        ({"a": False}, {"a": True}, 0, 1),
        ({"a": None}, {"a": None}, 1, 1),
        ({}, {"a": None}, 0, 1),
        ({"a": 1}, {"a": 1.0}, 1, 1),
        ({"a": 99}, {"a": 100}, 0.99, 1),
        ({"a": 101}, {"a": 100}, 0.99, 1),
        ({"a": 150}, {"a": 100}, 0.5, 1),
        ({"a": 201}, {"a": 100}, 0, 1),
        ({"a": -100}, {"a": 100}, 0, 1),
        ({"a": -99}, {"a": -100}, 0.99, 1),
        ({"a": 0.0}, {"a": 0}, 1, 1),
        ({"a": 1e-12}, {"a": 0}, 1, 1),
        ({"a": 1e-11}, {"a": 0}, 0, 1),
        ({"a": 2e-12}, {"a": 1e-12}, 0, 1),
        ({"a": 10**400}, {"a": 10**400}, 1, 1),
        ({"a": 10**400}, {"a": 1.5}, 0, 1),
        ({"a": 1.5}, {"a": 10**400}, 0, 1),
        # mismatches of kind
        ({"a": True}, {"a": 1}, 0, 1),
        ({"a": 1}, {"a": True}, 0, 1),
        ({"a": "1"}, {"a": 1}, 0, 1),
        ({"a": 1}, {"a": "1"}, 0, 1),
        ({"a": None}, {"a": "null"}, 0, 1),
        ({"a": {"0": 1, "1": 2}}, {"a": [1, 2]}, 0, 2),
        ({"a": [1, 2]}, {"a": {"0": 1, "1": 2}}, 0, 2),
        ({"a": 5}, {"a": {"b": 1, "c": [1, 2]}}, 0, 3),
        # what counts
        ({"a": 1, "extra": 5}, {"a": 1}, 1, 1),
        ({"A": "x"}, {"a": "x"}, 0, 1),
        ({"a": [1, 2, 3]}, {"a": [1]}, 1, 1),
        ({"a": [1]}, {"a": [1, 2, 3]}, 1, 3),
        ({"a": [1, 2, 3]}, {"a": [3, 2, 1]}, 4 / 3, 3),
        ({"a": 1}, {"a": 1, "b": {}, "c": []}, 1, 1),
        ({"x": {"y": 1}}, {"x": {"y": 1, "z": {"q": 1, "r": 2}}}, 1, 3),
        # texts
        ('{"a": 1}', '{"a": 1}', 1, 1),
        ("42", "42", 1, 1),
        ("42", 42, 1, 1),
        ("prose", {"a": 1, "b": 2}, 0, 2),
        ("hello", "helo", 0.8, 1),
        ("", "", 1, 1),
        ("null", "null", 1, 1),
        ({"a": 1}, "plain text", 0, 1),
    ],
)
def test_json_similarity(output: Any, expected: Any, matched: float, total: int) -> None:
    result = one("json_similarity", output, expected)
    assert result.metadata["matched"] == pytest.approx(matched, abs=1e-9)
    assert result.metadata["total"] == total
    assert result.score == pytest.approx(matched / total, abs=1e-9)


@pytest.mark.parametrize("expected", [{}, [], {"a": {}}, {"a": [[], {}]}, "{}", "[]"])
def test_an_expected_value_without_leaves_is_skipped(expected: Any) -> None:
    result = one("json_similarity", {"a": 1}, expected)
    assert (result.status, result.score, result.verdict) == ("skipped", None, None)
    assert result.reason == "expected has no values to compare"


def test_the_reason_counts_leaves() -> None:
    expected = {"a": 1, "b": "x", "c": True, "d": 100}
    result = one("json_similarity", {**expected, "d": 99}, expected)
    assert result.reason == "Matched leaves: 3.99, Total leaves: 4"


NO_VALUE = "Expecting value at line 1, column 1"


@pytest.mark.parametrize(
    ("output", "expected", "where"),
    [
        ("The answer is {}", {"a": 1}, f"{NO_VALUE}; the text holds JSON: extract it?"),
        (
            '```json\n{"a": 1}\n```',
            '{"a": 1}',
            f"{NO_VALUE}; a fenced block holds JSON: extract it?",
        ),
        ('{"a": 1,\n "b" 2}', [1], "Expecting ':' delimiter at line 2, column 6."),
        ("", {"a": 1}, "the text is empty."),
        ("about 42", 42, f"{NO_VALUE}."),
        ("yes", True, f"{NO_VALUE}."),
    ],
)
def test_text_that_is_no_json_scores_0_and_says_where(
    output: str, expected: Any, where: str
) -> None:
    result = one("json_similarity", output, expected)
    assert (result.score, result.verdict, result.code) == (0.0, "fail", "invalid_json")
    assert result.reason == f"output is not valid JSON: {where} Matched leaves: 0, Total leaves: 1"
    assert result.metadata["total"] == 1


@pytest.mark.parametrize("expected", ["plain text", '"a JSON string"'])
def test_text_where_a_text_is_expected_is_compared_with_it(expected: str) -> None:
    assert one("json_similarity", "plain texts", expected).code == ""


def test_the_five_worst_leaves_are_stored_in_few_bytes() -> None:
    expected = {f"key{n:02}": "x" * 500 for n in range(30)}
    result = one("json_similarity", {**expected, "key07": "y" * 900, "key03": 5}, expected)
    worst = result.metadata["worst"]
    assert [leaf["path"] for leaf in worst] == ["key03", "key07"]
    assert worst[0]["credit"] == 0.0
    nothing = one("json_similarity", {}, expected)
    assert len(nothing.metadata["worst"]) == 5
    assert "actual" not in nothing.metadata["worst"][0]
    assert max(len(json.dumps(r.metadata)) for r in (result, nothing)) <= 1_000


@pytest.mark.parametrize("code", ["duplicate_key", "not_finite"])
def test_faulty_json_does_not_become_a_text(code: str) -> None:
    fault = '{"a": 1, "a": 1}' if code == "duplicate_key" else '{"a": NaN}'
    assert one("json_similarity", fault, {"a": 1}).code == code
    assert one("json_similarity", {"a": 1}, fault).code == f"expected_{code}"


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"array_mode": "sorted"}, "array_mode"),
        ({"ignore_paths": ["a..b"]}, "ignore_paths"),
        ({"ignore_paths": "a"}, "ignore_paths"),
        ({"number_tolerance": -0.1}, "number_tolerance"),
        ({"number_tolerance": 2}, "number_tolerance"),
    ],
)
def test_bad_configs_are_refused(config: dict[str, Any], name: str) -> None:
    assert list(refused("json_similarity", config)) == [name]


def test_the_leaf_table_shows_every_leaf() -> None:
    config = read_config(JsonSimilarityConfig, {"ignore_paths": ["b[0]"]})
    table = leaf_table('{"a": 99, "b": [1, 2], "x": 1}', {"a": 100, "b": [7, 2, 3]}, config)
    assert [tuple(leaf) for leaf in table] == [
        ("a", 100, 99, 0.99, False),
        ("b[1]", 2, 2, 1.0, False),
        ("b[2]", 3, None, 0.0, True),
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [('{"a":1,"a":1}', {"a": 1}), ("1", None), ("1", {}), ("1", '{"a":NaN}')],
)
def test_the_leaf_table_is_empty_where_nothing_can_be_compared(output: Any, expected: Any) -> None:
    assert leaf_table(output, expected, JsonSimilarityConfig()) == []


@given(JSON, JSON)
def test_json_similarity_agrees_with_the_oracle(output: Any, expected: Any) -> None:
    result = one("json_similarity", {"v": output}, {"v": expected})
    total = oracles.leaves(expected)
    if total:
        matched = oracles.matched({"v": expected}, {"v": output})
        assert result.score == pytest.approx(matched / total, abs=1e-8)


@given(JSON, JSON)
def test_json_match_is_equality_of_canonical_texts(left: Any, right: Any) -> None:
    result = one("json_match", {"v": left}, {"v": right})
    assert (result.score == 1.0) == (compact(left) == compact(right))


@given(JSON, JSON)
def test_text_and_value_score_alike(output: Any, expected: Any) -> None:
    case = Case({"v": output}, {"v": expected})
    texts = Case(json.dumps({"v": output}), json.dumps({"v": expected}))
    for name in ("json_match", "json_similarity"):
        as_value, as_text = configure_scorer(name).score([case, texts])
        assert as_value == as_text
