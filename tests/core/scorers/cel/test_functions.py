"""What operators and functions refuse, and that they calculate as Python does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import OutsideProblem
from scoring.core.scorers.cel.parser import compile_expression
from tests.core.scorers.cel.test_parser import LONG, NUMBERS
from tests.support.scoring import one


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1e308 * 10", "not a finite number"),
        ("output + 1", "cannot add a text and a number"),
        ('"a" * 2', "cannot calculate with a text"),
        ("true < 1", "cannot order a boolean and a number"),
        ("true && 1", "expected true or false, got a number"),
        ("1 ? 2 : 3", "expected true or false"),
        ("!1", "expected true or false"),
        ('-"a"', "cannot negate a text"),
        ("{}.x", "no such key: 'x'"),
        ("null.x", "null has no members"),
        ("output.x", "a text has no members"),
        ("[1][1]", "no item 1 in a list of 1"),
        ("[1][0.5]", "no item 0.5"),
        ("[1][-1]", "no item -1"),
        ("size(null)", "null has no size"),
        ("size(1)", "a number has no size"),
        ("1 in 2", "`in` looks into lists and objects"),
        ("1.all(x, true)", "only lists and objects"),
        ("lower(1)", "expected a text, got a number"),
        ('json("{")', "json(): Expecting"),
        ('double("x")', "not a number"),
        ('matches("a", "(")', "the pattern a group is not closed"),
        ('matches("a", "(?=a)")', "no look-around"),
        ("[0, 2].all(x, 1 / x > 0)", "division by zero"),
    ],
)
def test_what_does_not_apply_is_an_error_of_the_case(source: str, text: str) -> None:
    if source.startswith("1.all"):
        source = "expected.all(x, true)"
    result = one("expression", "text", 5, {"expression": f"({source}) == 1"})
    assert (result.status, result.code) == ("error", "expression_failed")
    assert text in result.reason


@pytest.mark.parametrize(
    ("source", "variables"),
    [
        ("text", {"text": LONG + "a"}),
        ("text + text", {"text": LONG}),
        ("xs", {"xs": [*NUMBERS, 1]}),
        ("xs + [1]", {"xs": NUMBERS}),
        ("o.text", {"o": {"text": LONG + "a"}}),
        ("words(text)", {"text": "a " * 1_001}),
        ("json(text)", {"text": "[" + "1," * 1_000 + "1]"}),
    ],
)
def test_long_texts_and_lists_are_refused_where_they_appear(
    source: str, variables: dict[str, Any]
) -> None:
    with pytest.raises(OutsideProblem) as caught:
        compile_expression(source, list(variables)).evaluate(variables)
    assert caught.value.code == "too_large"


@given(st.integers(-99, 99), st.integers(1, 99), st.sampled_from(["+", "-", "*", "/", "<", ">="]))
def test_arithmetic_agrees_with_python(left: int, right: int, operator: str) -> None:
    value = compile_expression(f"({left}) {operator} {right}", []).evaluate({})
    assert value == eval(f"{left} {operator} {right}")
