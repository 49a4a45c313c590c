"""The numeric scorer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.scoring import one, refused

FINITE = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("output", "expected", "config", "score"),
    [
        ("42", 42, {}, 1.0),
        (42.0, "42", {}, 1.0),
        (" 42\n", 42, {}, 1.0),
        ("+42", 42, {}, 1.0),
        ("4.2e1", 42, {}, 1.0),
        (".5", 0.5, {}, 1.0),
        ("5.", 5, {}, 1.0),
        ("0", 0, {}, 1.0),
        ("-0.0", 0, {}, 1.0),
        ("0", 5, {}, 0.0),
        ("5", 0, {}, 0.0),
        ("-5", 5, {}, 0.0),
        ("3", 5, {}, 0.75),
        ("5", 3, {}, 0.75),
        ("-3", -5, {}, 0.75),
        ("3", 4, {}, 0.857142857),
        ("0.1", 0.1, {}, 1.0),
        ("1.1", 1, {"tolerance": 0.1}, 1.0),
        ("0.7", 0.6, {"tolerance": 0.1}, 1.0),
        ("1.1000001", 1, {"tolerance": 0.1}, 0.0),
        ("1", 1, {"tolerance": 0}, 1.0),
        ("1.0001", 1, {"tolerance": 0}, 0.0),
        ("101", 100, {"tolerance": 0.01, "relative": True}, 1.0),
        ("99", 100, {"tolerance": 0.01, "relative": True}, 1.0),
        ("101.1", 100, {"tolerance": 0.01, "relative": True}, 0.0),
        ("-101", -100, {"tolerance": 0.01, "relative": True}, 1.0),
        ("0", 0, {"tolerance": 0.01, "relative": True}, 1.0),
        ("0.001", 0, {"tolerance": 0.01, "relative": True}, 0.0),
        ("12345678901234567890", 12345678901234567891, {"tolerance": 0}, 0.0),
    ],
)
def test_numeric(output: Any, expected: Any, config: dict[str, Any], score: float) -> None:
    assert one("numeric", output, expected, config).score == score


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("x", "not_a_number"),
        ("", "not_a_number"),
        ("1,234", "not_a_number"),
        ("42 apples", "not_a_number"),
        ("0x10", "not_a_number"),
        ("1_000", "not_a_number"),
        ("٣", "not_a_number"),
        ("NaN", "not_a_number"),
        ("Infinity", "not_a_number"),
        (True, "not_a_number"),
        (None, "not_a_number"),
        ([1], "not_a_number"),
        ("1e999", "number_too_long"),
        ("1e-999", "number_too_long"),
        ("2e308", "number_too_long"),
        ("1" * 500, "number_too_long"),
    ],
)
def test_an_output_that_is_no_number_fails_and_an_expected_one_is_an_error(
    output: Any, code: str
) -> None:
    failed = one("numeric", output, 1, {"threshold": 0})
    assert (failed.score, failed.verdict, failed.code) == (0.0, "fail", code)
    if output is not None:
        broken = one("numeric", 1, output)
        assert (broken.status, broken.code) == ("error", f"expected_{code}")


def test_the_metadata_holds_both_numbers_and_their_difference() -> None:
    metadata = one("numeric", "1.1", 1).metadata
    assert metadata == {"output": 1.1, "expected": 1.0, "difference": 0.1}


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "1"}, "tolerance"),
        ({"relative": 1}, "relative"),
    ],
)
def test_bad_configs_are_refused(config: dict[str, Any], name: str) -> None:
    assert list(refused("numeric", config)) == [name]


@given(FINITE, FINITE)
def test_closeness_is_symmetric_and_one_only_for_equal_numbers(a: float, b: float) -> None:
    there, back = one("numeric", a, b), one("numeric", b, a)
    assert there.score == back.score
    if a == b:
        assert there.score == 1.0


@given(FINITE, FINITE)
def test_closeness_is_the_formula(output: float, expected: float) -> None:
    sizes = abs(output) + abs(expected)
    if sizes > 1e-300:
        formula = 1 - abs(output - expected) / sizes
        assert one("numeric", output, expected).score == pytest.approx(formula, abs=1e-8)
