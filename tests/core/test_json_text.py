"""Strict JSON: what is read, what is refused and where, and the text of a value."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import (
    MAX_DIGITS,
    MAX_KEYS,
    check_value,
    compact,
    parse,
    parse_exact,
    replace_unstorable,
    to_exact,
    to_text,
)

MOST_KEYS = dict.fromkeys(map(str, range(MAX_KEYS)))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 10**21, 10**21 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, "x", true, false, null]}', {"a": [1, 2.5, "x", True, False, None]}),
        (" \n\t1\r ", 1),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\u0000"', "\0"),
        ("12345678901234567890123", 12345678901234567890123),
        ("-0.0", -0.0),
        ("1e2", 100.0),
        ("9007199254740993.0", 9007199254740993),  # no float is this number
        ("[" * 64 + "]" * 64, json.loads("[" * 64 + "]" * 64)),
        ("9" * MAX_DIGITS, 10**MAX_DIGITS - 1),
        ('{"__proto__": 1}', {"__proto__": 1}),
        ('{"": 1, " ": 2}', {"": 1, " ": 2}),
        ("[" + "[1],{}," * 100 + "1]", [*([[1], {}] * 100), 1]),
        (f"[{json.dumps(MOST_KEYS)}]", [MOST_KEYS]),
    ],
)
def test_valid_json_is_read(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("", "invalid_json", "the text is empty"),
        ("  \n", "invalid_json", "the text is empty"),
        ('{"a":', "invalid_json", "line 1, column 6"),
        ('{\n"a": 1,\n}', "invalid_json", "line 3, column 1"),
        ("{'a': 1}", "invalid_json", "line 1, column 2"),
        ("[1] x", "invalid_json", "line 1, column 5"),
        ("01", "invalid_json", "line 1, column 2"),
        ('"a\tb"', "invalid_json", "line 1, column 3"),
        ("\ufeff1", "invalid_json", "line 1, column 1"),
        ("undefined", "invalid_json", "line 1, column 1"),
        ('{"a": 1, "a": 1}', "duplicate_key", "a appears twice"),
        ('[{"x y": {"b": 1, "b": 2}}]', "duplicate_key", '[0]["x y"].b appears twice'),
        ("NaN", "not_finite", "$"),
        ('{"a": [1, -Infinity]}', "not_finite", "a[1]"),
        ('{"a": 1e999}', "not_finite", "a is not finite"),
        ("9" * (MAX_DIGITS + 1), "number_too_long", "$ has over"),
        ("[0." + "1" * MAX_DIGITS + "]", "number_too_long", "[0] has over"),
        ("[" * 65 + "]" * 65, "too_deep", "64"),
        ('{"a":' * 65 + "1" + "}" * 65, "too_deep", "64"),
        ("[" * 100_000, "too_deep", "64"),
        ('{"a":' * 100_000, "too_deep", "64"),
        ('{"a": "\\ud800"}', "invalid_unicode", "a holds half"),
        ('{"\\udfff": 1}', "invalid_unicode", "half a character"),
        ('"\ud800"', "invalid_unicode", "$"),
        (json.dumps(dict.fromkeys(map(str, range(MAX_KEYS + 1)))), "too_many_keys", "$ has over"),
    ],
)
def test_bad_json_is_refused_with_code_and_place(text: str, code: str, where: str) -> None:
    with pytest.raises(CaseProblem) as caught:
        parse(text)
    assert caught.value.code == code
    assert where in caught.value.text
    assert caught.value.text.isprintable()


def test_a_nul_is_refused_only_on_request() -> None:
    assert parse('{"a": "x\\u0000"}') == {"a": "x\0"}
    with pytest.raises(CaseProblem, match="a holds a NUL") as caught:
        parse('{"a": "x\\u0000"}', refuse_nul=True)
    assert caught.value.code == "nul_character"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.nan, "not_finite"),
        ([math.inf], "not_finite"),
        ({"a": "\ud800"}, "invalid_unicode"),
        ({"\ud800": 1}, "invalid_unicode"),
        ({"a": {1, 2}}, "invalid_json"),
        ((1, 2), "invalid_json"),
        (json.loads("[" * 65 + "]" * 65), "too_deep"),
    ],
)
def test_parsed_values_are_checked_alike(value: Any, code: str) -> None:
    with pytest.raises(CaseProblem) as caught:
        check_value(value)
    assert caught.value.code == code


def test_a_value_that_contains_itself_is_too_deep() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(CaseProblem) as caught:
        check_value(loop)
    assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is \n", "as is \n"),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (4, "4"),
        (4.0, "4"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (2.5, "2.5"),
        (1e16, "10000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (10**21, "1e+21"),
        (10**21 + 1, "1.000000000000000000001e+21"),
        (-(10**22), "-1e+22"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (0.00000123, "0.00000123"),
        (1e-7, "1e-7"),
        (-1.5e-9, "-1.5e-9"),
        (5e-324, "5e-324"),
        ({"b": [1.0, None, "é\n"], "a": {}}, '{"a":{},"b":[1,null,"é\\n"]}'),
        ([], "[]"),
        ([True, "x"], '[true,"x"]'),
    ],
)
def test_text_of_a_value(value: Any, text: str) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize("value", [math.nan, -math.inf, [math.nan]])
def test_a_number_that_is_not_finite_has_no_text(value: Any) -> None:
    with pytest.raises(CaseProblem) as caught:
        compact(value)
    assert caught.value.code == "not_finite"


def test_a_deep_value_has_no_text() -> None:
    with pytest.raises(CaseProblem) as caught:
        compact(json.loads("[" * 500 + "]" * 500))
    assert caught.value.code == "too_deep"


@given(JSON)
def test_compact_json_reads_back_as_the_same_text(value: Any) -> None:
    assert compact(parse(compact(value))) == compact(value)


@given(JSON)
def test_compact_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    if isinstance(value, dict):
        assert compact(dict(reversed(value.items()))) == compact(value)


@given(JSON)
def test_what_the_standard_library_writes_is_read_the_same(value: Any) -> None:
    assert parse(json.dumps(value)) == value


@given(JSON)
def test_exact_numbers_are_those_that_are_written(value: Any) -> None:
    assert parse_exact(json.dumps(value)) == to_exact(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.10000000000000000001", Decimal("0.10000000000000000001")),
        ("1e23", 10**23),
        ("2.0", 2),
        ("1e-99999999999999999999", 0),
    ],
)
def test_no_digit_of_an_exact_number_is_lost(text: str, number: Any) -> None:
    assert parse_exact(f'{{"n": [{text}]}}') == {"n": [number]}


@pytest.mark.parametrize("text", ["1e999", '{"a": 1.5, "a": 1.5}', "[1.5", "1." + "5" * MAX_DIGITS])
def test_exact_numbers_are_refused_alike(text: str) -> None:
    with pytest.raises(CaseProblem):
        parse_exact(text)


PLAIN = st.none() | st.booleans() | st.integers() | st.text(':" \\a', max_size=4)


@given(
    st.lists(st.tuples(st.text(':" a', max_size=2), PLAIN), max_size=4),
    st.sampled_from([":", " : ", "\t:"]),
)
def test_flat_objects_are_read_and_their_duplicates_found(
    pairs: list[tuple[str, Any]], colon: str
) -> None:
    members = ",".join(f"{json.dumps(key)}{colon}{json.dumps(value)}" for key, value in pairs)
    if len(dict(pairs)) < len(pairs):
        assert _code(f"{{{members}}}") == "duplicate_key"
    else:
        assert parse(f"{{{members}}}") == dict(pairs)


def test_a_flat_object_takes_no_strict_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the line of most files, and that pass takes twice as long."""
    monkeypatch.setattr("scoring.core.json_text._FAST", None)
    text = '{"id": "q1", "input": "at 10:30: what?", "count": 3, "expected": null}'
    assert parse(text, refuse_nul=True) == json.loads(text)


@given(st.text(max_size=80))
def test_no_text_ever_raises_anything_else(text: str) -> None:
    assert _code(text) in {"", "invalid_json", "not_finite", "duplicate_key"}


def _code(text: str) -> str:
    try:
        parse(text)
    except CaseProblem as problem:
        return problem.code
    return ""


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"a\0": ["\0", "\\u0000", 1, None]}, {"a\ufffd": ["\ufffd", "\\u0000", 1, None]}),
        ("\ud800x", "\ufffdx"),
        (2.5, 2.5),
    ],
)
def test_what_no_database_keeps_is_replaced(value: Json, stored: Json) -> None:
    assert replace_unstorable(value) == stored
