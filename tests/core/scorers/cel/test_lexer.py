"""Texts of expressions: their tokens and literals, and that any text is read or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.scorers.cel.functions import EvaluationError
from scoring.core.scorers.cel.lexer import SyntaxProblemError, number, text_value, tokenize
from scoring.core.scorers.cel.parser import compile_expression


@given(st.text(" ()[]{}.,?:+-*/%<>=!&|\"'abxs01", max_size=20))
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        program = compile_expression(source, ["a", "b"])
    except SyntaxProblemError:
        return
    try:
        program.evaluate({"a": 1, "b": "x"})
    except EvaluationError as fault:
        assert str(fault)  # noqa: PT017 - evaluation may succeed as well


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("", []),
        ("a // the rest\n<= 0x1Fu", ["name a", "mark <=", "number 0x1Fu"]),
        ("1.5e3.x", ["number 1.5e3", "mark .", "name x"]),
        ("r'a' ! b", ["text r'a'", "mark !", "name b"]),
    ],
)
def test_an_expression_is_cut_into_tokens(source: str, tokens: list[str]) -> None:
    found = tokenize(source)
    assert [f"{token.kind} {token.text}" for token in found[:-1]] == tokens
    assert (found[-1].kind, found[-1].position) == ("end", len(source))


@pytest.mark.parametrize(
    ("source", "where"),
    [("a # b", "at character 3"), ("'a", "at character 1"), ("a" * 2_001, "longer than 2,000")],
)
def test_what_is_no_token_is_named(source: str, where: str) -> None:
    with pytest.raises(SyntaxProblemError, match=where):
        tokenize(source)


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7.0), ("7u", 7.0), ("0x1F", 31.0), (".5", 0.5), ("1e3", 1_000.0)]
)
def test_a_number_has_its_value(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a"', "a"),
        (r"'\n\t\'\x41\u00e9\U0001f600\101'", "\n\t'A\u00e9\U0001f600A"),
        (r"r'\n'", r"\n"),
        ('"""a\n"b"""', 'a\n"b'),
    ],
)
def test_a_text_has_its_value(text: str, value: str) -> None:
    assert text_value(text) == value


def test_a_character_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SyntaxProblemError, match="does not exist"):
        text_value(r"'\U00110000'")
