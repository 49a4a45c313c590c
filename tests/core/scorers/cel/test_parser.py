"""CEL's meaning, exact limits, and nothing that blocks."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.contract import OutsideProblem
from scoring.core.scorers.cel import functions
from scoring.core.scorers.cel.parser import compile_expression
from tests.support.scoring import refused
from tests.support.speed import quick_enough

# Answers of CEL itself; test_our_cel_agrees_with_the_package asks the package too.
MEANINGS: list[tuple[str, Any]] = [
    ("1 + 2 * 3", 7),
    ("1 - 2 - 3", -4),
    ("2 * 3 + 4", 10),
    ("-(2.0) - 3.0", -5),
    ("- -1", 1),
    ("5.0 / 2.0", 2.5),
    ("0x10", 16),
    ("1e3", 1000),
    (".5", 0.5),
    ("3u", 3),
    ("1 // a comment", 1),
    ("'it\\'s'", "it's"),
    ("\"a\" + 'b'", "ab"),
    ('r"\\d"', "\\d"),
    ('"\\u00e9\\x41\\n\\101"', "éA\nA"),
    ('"""a"b\n"""', 'a"b\n'),
    ("true && !false", True),
    ("false || true", True),
    ("!true || true", True),
    ("1 < 2 && 2 <= 2", True),
    ('"a" < "b"', True),
    ("false < true", True),
    ("1 == 1.0", True),
    ('1 == "1"', False),
    ("null == null", True),
    ("2 == 2 == true", True),
    ("[1, 2, 3][1]", 2),
    ("[1, 2,]", [1, 2]),
    ("[1] + [2]", [1, 2]),
    ('{"a": {"b": 1}}.a.b', 1),
    ('{"a": 1}["a"]', 1),
    ('{"a": [1, {"b": 2}]}.a[1].b', 2),
    ('"a" in ["b", "a"]', True),
    ('"k" in {"k": 1}', True),
    ("[1, 2].all(x, x > 0)", True),
    ("[].all(x, x > 0)", True),
    ("[1, 2].exists(x, x > 1)", True),
    ("[].exists(x, true)", False),
    ("[1, 2, 1].exists_one(x, x == 1)", False),
    ("[1, 2, 3].exists_one(x, x == 2)", True),
    ("[1, 2, 3].filter(x, x != 2)", [1, 3]),
    ("[1, 2].map(x, x * 2)", [2, 4]),
    ("[1, 2].map(x, x > 1, x * 2)", [4]),
    ('{"a": 1}.all(k, k == "a")', True),
    ("[[1], [2]].map(x, x.map(y, y + 1))", [[2], [3]]),
    ("[1].map(x, [2].map(x, x))", [[2]]),
    ("has({'a': 1}.a)", True),
    ("has({'a': 1}.b)", False),
    ("true ? 1 : 2", 1),
    ("false ? 1 : true ? 2 : 3", 2),
    ('"abc".startsWith("ab")', True),
    ('"abc".endsWith("bc")', True),
    ('"abc".contains("bc")', True),
    ('"abc".matches("^a.c$")', True),
    ('size("abc")', 3),
    ('"abc".size()', 3),
    ("size([1, 2])", 2),
    ('size({"a": 1})', 1),
    ('string(1) + string("x")', "1x"),
    ('double("1.5")', 1.5),
    ("int(2.7)", 2),
    ("int(-2.7)", -2),
    # one side settles it in spite of an error on the other
    ("false && 1 / 0 > 1", False),
    ("1 / 0 > 1 && false", False),
    ("true || 1 / 0 > 1", True),
    ("1 / 0 > 1 || true", True),
    ("[] == []", True),
    ("{} == {}", True),
]


@pytest.mark.parametrize(("source", "value"), MEANINGS)
def test_expressions_mean_what_cel_says(source: str, value: Any) -> None:
    assert compile_expression(source, []).evaluate({}) == value


@pytest.mark.parametrize(("source", "value"), MEANINGS)
def test_our_cel_agrees_with_the_package(source: str, value: Any) -> None:
    cel = pytest.importorskip("cel")
    assert cel.evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("7 / 2", 3.5),  # numbers are doubles
        ("7 % 4", 3),
        ("-7 % 4", -3),
        ("1 + 0.5", 1.5),
        ('size("héllo😀")', 6),  # lengths count code points
        ("size(output)", 3),
        ('words(" a  b\\nc ")', ["a", "b", "c"]),
        ('lower("ÀB")', "àb"),
        ('similarity("helo", "hello")', 0.8),
        ('json("{\\"a\\": [1]}").a[0]', 1),
        ('matches("ABC", "/b/i")', True),
        ('"a\\n".matches("a$")', False),
        ('["a", 1].contains(1)', True),
        ('{"k": 1}.contains("k")', True),
        ("xs[size(xs) - 1]", 2),
        ("dyn(1)", 1),
        ("[0, 1].exists(x, 1 / x > 0)", True),
        ("string(1.0)", "1"),
        ("string([1, true])", "[1,true]"),
    ],
)
def test_where_we_add_to_cel_or_depart_from_it(source: str, value: Any) -> None:
    variables = {"output": "hé😀", "xs": [1, 2]}
    assert compile_expression(source, list(variables)).evaluate(variables) == value


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", "where a value should be"),
        ("1 +", "where a value should be"),
        ("== 1", "where a value should be"),
        ("(1", "expected )"),
        ("[1", "expected ]"),
        ("1 2", "expected the end"),
        ("1 ? 2", "expected :"),
        ("foo", "no variable foo"),
        ("__import__('os')", "no function __import__"),
        ("output.upper()", "no function upper"),
        ("size()", "takes 1 values, not 0"),
        ("size(1, 2)", "takes 1 values, not 2"),
        ("has(1)", "has() asks for a key"),
        ("has((output.x))", "has() asks for a key"),
        ("[1].map(1, 2)", "expected a name"),
        ("[1].map(x)", "expected ,"),
        ("[1].all(x, 1, 2)", "takes a name and an expression"),
        ("[1].all(x, true) && x", "no variable x"),
        ("{1: 2}", "keys of an object are texts"),
        ('"a', "cannot be read at character 1"),
        ("`a`", "cannot be read at character 1"),
        ("1.", "expected a name"),
        ("output.", "expected a name"),
        ('"\\U00110000"', "does not exist"),
        ("[1].all(x, [1].all(y, [1].all(z, true)))", "nested deeper than 2"),
        ("(" * 60 + "1" + ")" * 60, "nested deeper than 50"),
        ("!" * 60 + "true", "nested deeper than 50"),
        ("[" * 60 + "]" * 60, "nested deeper than 50"),
        ("+".join(["1"] * 200), "too many operators"),
        ("output" + ".a" * 300, "too many operators"),
        ("1" + " " * 2_000, "longer than 2,000"),
    ],
)
def test_an_unreadable_expression_is_a_config_error_that_says_where(source: str, text: str) -> None:
    errors = refused("expression", {"expression": source})
    assert list(errors) == ["expression"]
    assert text in errors["expression"][0]


NUMBERS = [float(n) for n in range(1_000)]


LONG = "a" * 100_000


BOMBS = [
    "xs.map(x, xs.map(y, y + 1.0)).size() > 1",
    "xs.map(x, xs.map(y, xs)).size() > 1",
    "xs.map(x, xs.map(y, text + text)).size() > 1",
    "xs.map(x, xs.map(y, string(xs))).size() > 1",
    "xs.map(x, string(xs)).size() > 1",
    "xs.all(x, xs.all(y, x + y >= 0.0))",
    "xs.all(x, xs.all(y, text == text))",
    "xs.all(x, xs.all(y, xs == xs))",
    "xs.all(x, xs.all(y, y in xs))",
    "xs.all(x, text.contains('b') == false)",
    "xs.all(x, xs.all(y, text.startsWith(text)))",
    "xs.all(x, size(words(text)) > 0)",
    "xs.all(x, similarity(text, 'b') >= 0.0)",
    "xs.all(x, similarity(text, lower(text)) >= 0.0)",
    "xs.all(x, matches(text, '[ab]*b[ab]{50}c') == false)",
    "xs.all(x, lower(text) == text)",
    "xs.map(x, xs.map(y, [xs, xs, xs])).size() > 1",
    "xs.map(x, xs) == xs.map(x, xs)",
    "+".join(["text"] * 100),
    "similarity(text, 'b' + text) > 0.0",
]


@pytest.mark.parametrize("source", BOMBS)
def test_no_expression_blocks(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MAX_STEPS", 100_000)
    program = compile_expression(source, ["xs", "text"])
    with quick_enough(6):
        try:
            program.evaluate({"xs": NUMBERS, "text": LONG[:-1]})
        except OutsideProblem as stopped:
            assert stopped.code in {"too_costly", "too_large"}  # noqa: PT017 - or it was quick


def test_a_program_knows_its_variables() -> None:
    assert compile_expression("a + b.c[d]", "abcd").variables == {"a", "b", "d"}
