"""Target keys, default and missing expected values, negate: the same rules for every type."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scoring import one, refused

REFERENCE_TYPES = [
    "exact_match",
    "includes",
    "levenshtein",
    "json_match",
    "json_similarity",
    "numeric",
]
ORDER = {"result": {"items": [{"name": "pen"}, {"name": "ink"}], "a.b": 1}, "note": None}


@pytest.mark.parametrize("name", REFERENCE_TYPES)
def test_a_missing_expected_value_fails_whatever_the_threshold(name: str) -> None:
    result = one(name, "1", None, {"threshold": 0.0})
    assert (result.status, result.score, result.verdict) == ("scored", 0.0, "fail")
    assert (result.reason, result.code) == ("no expected output", "expected_missing")


@pytest.mark.parametrize("name", REFERENCE_TYPES)
def test_the_default_expected_value_stands_in(name: str) -> None:
    assert one(name, "1", None, {"default_expected": 1}).verdict == "pass"
    assert one(name, "1", 1, {"default_expected": 2}).verdict == "pass"


@pytest.mark.parametrize("name", ["exact_match", "includes", "levenshtein"])
def test_an_empty_expected_text_is_present(name: str) -> None:
    assert one(name, "", "").score == 1.0


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("regex", {"pattern": "1"}),
        ("json_schema", {}),
        ("includes", {"values": ["1"]}),
        ("expression", {"expression": "output == '1'"}),
    ],
)
def test_types_that_need_no_expected_value_do_without(name: str, config: dict[str, Any]) -> None:
    assert one(name, "1", None, config).verdict == "pass"


@pytest.mark.parametrize(
    ("output", "expected", "key", "score", "code"),
    [
        # the whole value
        ('{"a":1}', {"a": 1}, "*", 1.0, ""),
        # a literal key comes before a path
        ({"a.b": "x", "a": {"b": "y"}}, "x", "a.b", 1.0, ""),
        ({"a": {"b": "y"}}, "y", "a.b", 1.0, ""),
        ({"*": "y"}, {"*": "y"}, "*", 1.0, ""),
        # paths, from text and from JSON, on both sides
        (ORDER, "pen", "result.items[0].name", 1.0, ""),
        (ORDER, ORDER, "result.items[1].name", 1.0, ""),
        ('{"r": [1, 2]}', '{"r": [1, 2]}', "r[1]", 1.0, ""),
        (ORDER, "1", 'result["a.b"]', 1.0, ""),
        ([{"x": 5}], 5, "[0].x", 1.0, ""),
        # an expected value that is no JSON object is used whole
        ({"a": "[1]"}, "[1]", "a", 1.0, ""),
        ({"a": [1]}, [1], "a", 1.0, ""),
        ({"a": "plain"}, "plain", "a", 1.0, ""),
        ({"a": "other"}, "plain", "a", 0.0, ""),
        # missing keys
        ({"b": 1}, "x", "a", 0.0, "target_not_in_output"),
        ({"a": [1]}, "x", "a[1]", 0.0, "target_not_in_output"),
        ({"a": 1}, {"b": 1}, "a", None, "target_not_in_expected"),
        ({"a": 1}, '{"b": 1}', "a", None, "target_not_in_expected"),
        ({"a": 1}, "x", "a..b[", 0.0, "target_not_in_output"),
        # an expected null is a missing expected value
        (ORDER, {"note": None}, "note", 0.0, "expected_missing"),
        # unreadable values
        ("not JSON", "x", "a", 0.0, "invalid_json"),
        ('{"a": 1, "a": 2}', "x", "a", 0.0, "duplicate_key"),
        ({"a": 1}, '{"a": 1, "a": 2}', "a", None, "expected_duplicate_key"),
        ("[" * 70 + "]" * 70, "x", "a", 0.0, "too_deep"),
        # several keys
        ({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 4}, ["a", "b"], 1.0, ""),
        ({"a": {"b": 1}}, {"a": {"b": 1}, "z": 1}, ["a.b"], 1.0, ""),
        ({"a": 1}, {"a": 1, "b": 2}, ["a", "b"], 0.0, "target_not_in_output"),
        ({"a": 1, "b": 2}, {"a": 1}, ["a", "b"], None, "target_not_in_expected"),
    ],
)
def test_target_keys_choose_what_exact_match_compares(
    output: Any, expected: Any, key: Any, score: float | None, code: str
) -> None:
    result = one("exact_match", output, expected, {"target_output_key": key})
    assert (result.score, result.code) == (score, code)
    if score is None:
        assert result.status == "error"


def test_a_chosen_text_is_not_parsed_as_json_again() -> None:
    config = {"target_output_key": "a"}
    assert one("json_match", {"a": "ok"}, {"a": "ok"}, config).score == 1.0
    assert one("json_match", {"a": "ok"}, "ok", config).score == 1.0
    assert one("json_match", {"a": "1"}, {"a": 1}, config).score == 0.0
    assert one("json_similarity", {"a": "[1]"}, {"a": [1]}, config).score == 0.0


def test_json_similarity_loses_only_the_leaves_of_a_missing_key() -> None:
    config = {"target_output_key": ["a", "b"]}
    result = one("json_similarity", {"a": 1}, {"a": 1, "b": {"c": 1, "d": 2}}, config)
    assert result.score == pytest.approx(1 / 3, abs=1e-9)
    assert result.code == ""


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("regex", {"pattern": "^pen$"}),
        ("includes", {"values": ["pen"]}),
        ("json_schema", {"schema": {"const": "pen"}}),
        ("expression", {"expression": "output == 'pen' && output_json == 'pen'"}),
    ],
)
def test_other_types_look_at_the_target_too(name: str, config: dict[str, Any]) -> None:
    config = {**config, "target_output_key": "result.items[0].name"}
    assert one(name, ORDER, None, config).score == 1.0


@pytest.mark.parametrize("expected", [{"b": 1}, '{"b": 1, "b": 2}'])
@pytest.mark.parametrize(
    ("name", "config"),
    [("regex", {"pattern": "1"}), ("includes", {"values": ["1"]}), ("json_schema", {})],
)
def test_an_unused_expected_value_need_not_hold_the_key(
    name: str, config: dict[str, Any], expected: Any
) -> None:
    config = {**config, "target_output_key": "a"}
    assert one(name, {"a": 1}, expected, config).score == 1.0


@pytest.mark.parametrize(("key", "text"), [([], "at least one"), (5, "text"), ([1], "text")])
def test_bad_target_keys_are_config_errors(key: Any, text: str) -> None:
    errors = refused("exact_match", {"target_output_key": key})
    assert text in errors["target_output_key"][0]


@pytest.mark.parametrize(
    ("name", "config", "output", "expected"),
    [
        ("exact_match", {}, "a", "a"),
        ("includes", {}, "abc", "b"),
        ("includes", {"values": ["a", "c"]}, "abc", None),
        ("regex", {"pattern": "b"}, "abc", None),
        ("json_match", {}, "[1]", [1]),
        ("json_schema", {"schema": {"type": "array"}}, "[1]", None),
    ],
)
def test_negate_turns_the_score_round(
    name: str, config: dict[str, Any], output: Any, expected: Any
) -> None:
    plain = one(name, output, expected, config)
    turned = one(name, output, expected, {**config, "negate": True})
    assert (plain.score, turned.score) == (1.0, 0.0)
    assert (plain.verdict, turned.verdict) == ("pass", "fail")
    assert turned.reason == "the opposite is wanted (negate)"


@pytest.mark.parametrize(
    ("name", "output", "expected", "config"),
    [
        ("exact_match", "a", "b", {}),
        ("includes", "a", "b", {}),
        ("regex", "a", None, {"pattern": "b"}),
        ("json_match", "1", 2, {}),
        ("json_schema", "1", None, {"schema": False}),
    ],
)
def test_a_negated_mismatch_passes_without_a_reason(
    name: str, output: Any, expected: Any, config: dict[str, Any]
) -> None:
    result = one(name, output, expected, {**config, "negate": True})
    assert (result.score, result.verdict, result.reason) == (1.0, "pass", "")


@pytest.mark.parametrize(
    ("name", "output", "expected", "config", "code"),
    [
        ("exact_match", "a", None, {}, "expected_missing"),
        ("exact_match", "a", "a", {"target_output_key": "x"}, "invalid_json"),
        ("json_match", "{", 1, {}, "invalid_json"),
        ("json_schema", '{"a":1,"a":1}', None, {}, "duplicate_key"),
    ],
)
def test_negate_never_turns_a_forced_fail(
    name: str, output: Any, expected: Any, config: dict[str, Any], code: str
) -> None:
    result = one(name, output, expected, {**config, "negate": True})
    assert (result.score, result.verdict, result.code) == (0.0, "fail", code)


def test_types_without_negate_refuse_it() -> None:
    for name in ("levenshtein", "json_similarity", "numeric"):
        assert "negate" in refused(name, {"negate": True})


@pytest.mark.parametrize("name", REFERENCE_TYPES)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), [[float("nan")]]])
def test_numbers_that_are_not_finite_never_score(name: str, value: Any) -> None:
    assert one(name, value, 1).verdict == "fail"
    assert one(name, "1", value).status == "error"


def test_reasons_cut_long_texts_and_stay_on_one_line() -> None:
    for result in (
        one("exact_match", "a\nb", "a b"),
        one("includes", "x", None, {"values": ["y" * 500]}),
        one("numeric", "a\n" * 500, 1),
        one("exact_match", {"a": 1}, 1, {"target_output_key": "k" * 500}),
    ):
        assert result.reason
        assert "\n" not in result.reason
        assert len(result.reason) < 200
