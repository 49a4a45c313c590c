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


LENIENT = [
    ("\u22125", "-5", "its minus is U+2212 (minus sign); “lenient” reads -5"),
    ("50%", "0.5", "it ends with %; “lenient” reads 0.5"),
    ("12.5 %", "0.125", "it ends with %"),
    ("1 234", "1234", "its digits are grouped by spaces; “lenient” reads 1234"),
    ("1\u202f234\u202f567.5", "1234567.5", "grouped by U+202F (narrow no-break space)"),
    ("1,234.50", "1234.5", "grouped by commas; “lenient” reads 1234.5"),
    ("1'234", "1234", "grouped by apostrophes"),
    ("½", "0.5", "½ is a fraction; “lenient” reads 0.5"),
    ("\u22121½", "-1.5", "(minus sign) and ½ is a fraction; “lenient” reads -1.5"),
    ("٣", "3", "its digits are not 0 to 9; “lenient” reads 3"),
    ("5\u2030", "0.005", "it ends with ‰"),
]


@pytest.mark.parametrize(("output", "number", "hint"), LENIENT)
def test_numbers_as_people_write_them_are_read_on_request_and_named_else(
    output: str, number: str, hint: str
) -> None:
    assert one("numeric", output, number, {"lenient": True, "tolerance": 0}).score == 1.0
    assert one("numeric", number, output, {"lenient": True, "tolerance": 0}).score == 1.0
    strict = one("numeric", output, number)
    assert (strict.score, strict.code) == (0.0, "not_a_number")
    assert hint in strict.reason


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1,5", ": a comma is no decimal sign, write a point"),
        ("1.234,50", ": a comma is no decimal sign, write a point"),
        ("12,34,567", " is not a number"),
        ("1,234 5", " is not a number"),
        ("1,234,56", " is not a number"),
        ("%", " is not a number"),
        ("\u2212", " is not a number"),
        ("-", " is not a number"),
        (".", " is not a number"),
        ("1.5½", " is not a number"),
        ("--5", " is not a number"),
        ("5 apples", " is not a number"),
        ("", " is not a number"),
    ],
)
def test_what_is_no_number_either_way_stays_none(text: str, hint: str) -> None:
    assert one("numeric", text, 1).reason.endswith(hint)
    failed = one("numeric", text, 1, {"lenient": True})
    assert (failed.code, failed.reason.endswith(" is not a number")) == ("not_a_number", True)


@given(st.text("0123456789.,%- \u2212½eE_", max_size=12))
def test_lenient_reads_all_that_is_read_anyway_and_the_same(text: str) -> None:
    strict, lenient = (one("numeric", text, 7, {"lenient": is_on}) for is_on in (False, True))
    if strict.code != "not_a_number":
        assert lenient == strict


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
