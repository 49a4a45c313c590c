"""Patterns: JavaScript's meaning, two engines, and nothing that blocks."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core import pattern as patterns
from scoring.core.contract import ConfigError, OutsideProblem
from scoring.core.js_pattern import MAX_LENGTH
from scoring.core.pattern import compile_pattern
from tests.core.one import one, refused

# Every row says what JavaScript (with the u flag where that matters) answers.
MEANINGS: list[tuple[str, str, str, bool]] = [
    # pattern, flags, text, found
    ("paris", "", "in paris now", True),
    ("paris", "", "PARIS", False),
    ("paris", "i", "PARIS", True),
    ("", "", "", True),
    ("", "", "anything", True),
    ("^b$", "", "a\nb", False),
    ("^b$", "m", "a\nb", True),
    ("^b$", "m", "a\r\nb\r\nc", True),
    ("^b$", "m", "a\u2028b", True),
    ("b$", "", "b\n", False),
    ("a$", "", "a", True),
    ("a.c", "", "a\nc", False),
    ("a.c", "", "a\rc", False),
    ("a.c", "", "a\u2028c", False),
    ("a.c", "s", "a\nc", True),
    ("^.$", "", "😀", True),
    ("^.$", "", "é", True),
    ("b", "y", "ab", False),
    ("b", "y", "ba", True),
    ("a|b", "y", "ba", True),
    ("a|b", "y", "cb", False),
    ("a", "gu", "bab", True),
    (r"^\d+$", "", "123", True),
    (r"^\d+$", "", "\u0661\u0662", False),
    (r"\D", "", "\u0661", True),
    (r"^\w+$", "", "ab_1", True),
    (r"\w", "", "é", False),
    (r"\W", "i", "s", False),
    (r"\W", "i", "K", False),
    (r"[^\W]", "i", "k", True),
    (r"\s", "", "\u00a0", True),
    (r"\s", "", "\ufeff", True),
    (r"\s", "", "\u200b", False),
    (r"^\S+$", "", "ab\u3000", False),
    (r"[\s,]", "", ",", True),
    (r"[^\s]", "", "\u2003", False),
    (r"[\w-]+$", "", "a-b", True),
    (r"[a\-z]", "", "-", True),
    (r"[a-]", "", "-", True),
    (r"[]", "", "anything", False),
    (r"[^]", "", "\n", True),
    (r"[[]", "", "[", True),
    (r"[.]", "", "x", False),
    (r"[&&]", "", "&", True),
    (r"\bcat\b", "", "a cat.", True),
    (r"\bcat\b", "", "cats", False),
    (r"\Bat", "", "cat", True),
    (r"[\b]", "", "\b", True),
    (r"\x41\u0042\u{43}", "", "ABC", True),
    (r"\ud83d\ude00", "", "😀", True),
    (r"\cJ", "", "\n", True),
    (r"\0", "", "\0", True),
    (r"\/\-\.", "", "/-.", True),
    (r"\é", "", "é", True),
    (r"a{2}", "", "aa", True),
    (r"^a{2,3}$", "", "aaaa", False),
    (r"^a{2,}$", "", "aaaa", True),
    (r"a{,2}", "", "a{,2}", True),
    (r"a{", "", "a{", True),
    (r"x}]", "", "x}]", True),
    (r"^a+?b$", "", "aab", True),
    (r"(?:ab)+c", "", "ababc", True),
    (r"(?<year>\d{4})", "", "in 1999", True),
    (r"(?P<year>\d{4})", "", "in 1999", True),
    (r"(?i)PARIS", "", "paris", True),
    (r"(?i:A)b", "", "ab", True),
    (r"(?i:A)b", "", "aB", False),
    (r"(?s:.)", "", "\n", True),
    (r"\p{L}+", "u", "é", True),
    (r"\p{Script=Greek}", "u", "\u03b1", True),
    (r"\P{L}", "u", "é", False),
    (r"[\p{N}_]", "u", "²", True),
    ("/yes|no/i", "", "YES", True),
    ("/yes/", "i", "YES", True),
    ("/a[/]b/", "", "a/b", True),
    ("/etc/passwd", "", "cat /etc/passwd", True),
    ("Ä", "i", "ä", True),
    # the second engine
    (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "", "abc1", True),
    (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "", "abcd", False),
    (r"a(?!b)", "", "ab", False),
    (r"(?<=\$)\d+", "", "$5", True),
    (r"(?<!\$)\b\d", "", "$5", False),
    (r"^(a+)b\1$", "", "aabaa", True),
    (r"^(a+)b\1$", "", "aaba", False),
    (r"(?<q>['\"]).*?\k<q>", "", "'x'", True),
    (r"^(?:(a)|b)\1$", "", "b", True),  # a group that took no part matches empty
    (r"^\1(a)$", "", "a", True),
    (r"^(a\1)$", "", "a", True),
    (r"^(a)\1$", "i", "aA", True),
    (r"(?=^b$)b", "", "b\n", False),
    (r"(?=b)^b$", "m", "a\u2029b", True),
    (r"(?=.).", "", "\u2028", False),
    (r"(?=é)\bé|x", "", "é", False),  # \b knows ASCII words only
    (r"^(?=.{1,5000}$)", "", "a" * 4999, True),
    (r"^.{1,4000}$", "", "a" * 4000, True),  # more repeats than RE2 takes
    (r"^.{1,4000}$", "", "a" * 4001, False),
]


@pytest.mark.parametrize(("pattern", "flags", "text", "found"), MEANINGS)
def test_patterns_mean_what_they_mean_in_javascript(
    pattern: str, flags: str, text: str, found: bool
) -> None:
    assert compile_pattern(pattern, flags).is_in(text) is found


@pytest.mark.parametrize(("pattern", "flags", "text", "found"), MEANINGS)
def test_both_engines_agree(pattern: str, flags: str, text: str, found: bool) -> None:
    compiled = compile_pattern(pattern, flags)
    assert compiled._is_in_slowly(text) is found


@pytest.mark.alone
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a", "not closed"),
        ("a)", "closes no group"),
        ("[a", "class is not closed"),
        ("[z-a]", "wrong way round"),
        ("a{3,2}", "wrong way round"),
        ("*a", "nothing to repeat"),
        ("a**", "nothing to repeat"),
        ("a++", "nothing to repeat"),
        ("^*", "nothing to repeat"),
        (r"\b+", "nothing to repeat"),
        ("(?<=a)+", "nothing to repeat"),
        ("(?>a)", "not JavaScript"),
        ("(?#c)", "not JavaScript"),
        ("(?<1a>x)", "not JavaScript"),
        (r"\Aa", "not an escape"),
        (r"a\Z", "not an escape"),
        (r"\Qa\E", "not an escape"),
        ("\\", "not an escape"),
        (r"(a)\2", "refers to a group 2"),
        (r"\k<x>", "refers to a group x"),
        (r"(?<x>a)(?<x>b)", "two groups are called x"),
        (r"\u{110000}", "no such character"),
        (r"\ud800", "half a character"),
        ("a" * (MAX_LENGTH + 1), "longer than"),
        ("(" * 101 + ")" * 101, "nested deeper"),
        ("((a{1000}){1000}){1000}", "unrolls"),
        ("(?=a)((a{1000}){1000}){1000}", "unrolls"),
        ("(?:a{100}b{100}){101}", "unrolls"),
        ("a{999999999}", "unrolls"),
    ],
)
def test_what_is_not_javascript_or_too_large_is_a_config_error(pattern: str, text: str) -> None:
    started = time.process_time()
    errors = refused("regex", {"pattern": pattern})
    assert list(errors) == ["pattern"]
    assert text in errors["pattern"][0]
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("flags", "text"), [("x", "'x' is not a flag"), ("ii", "twice"), ("I", "'I' is not a flag")]
)
def test_bad_flags_are_config_errors(flags: str, text: str) -> None:
    assert text in refused("regex", {"pattern": "a", "flags": flags})["flags"][0]


def test_a_pattern_is_required() -> None:
    assert refused("regex", {}) == {"pattern": ["is required"]}


BOMBS: list[tuple[str, str]] = [
    ("(a+)+$", "a" * 50_000 + "b"),
    ("(a|aa)+$", "a" * 50_000 + "b"),
    ("(a|a?)+$", "a" * 50_000 + "b"),
    ("(.*a){20}$", "a" * 20_000 + "b"),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 50_000),
    ("(?:a?){500}a{500}$", "a" * 20_000 + "b"),
    ("[ab]*a[ab]{1000}cc", "ab" * 100_000 + "c"),
    ("(.{0,300}a.{0,300}b.{0,300}){3}cc", "ab" * 50_000 + "c"),
    ("(?=(a+)+$)b", "a" * 50_000 + "b"),
    ("(?=(a+)+b)c", "a" * 5_000),
    ("(?=(a|aa)+c)b", "a" * 5_000),
    (r"^(a+)*\1c", "a" * 5_000),
    ("(?<=(a|a?)+)c", "a" * 5_000),
    ("(?=x)(x+x+)+y", "x" * 5_000),
]


@pytest.mark.alone
@pytest.mark.parametrize(("pattern", "text"), BOMBS)
def test_no_pattern_blocks(pattern: str, text: str) -> None:
    started = time.process_time()
    result = one("regex", text, None, {"pattern": pattern})
    assert time.process_time() - started < 5  # a second, and room for a busy machine
    assert result.status == "scored" or result.code == "pattern_timeout"


def test_a_timeout_is_an_error_that_negate_does_not_turn(monkeypatch: Any) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_SECONDS", 0.01)
    for negate in (False, True):
        config = {"pattern": "(?=x)(x+x+)+y", "negate": negate}
        result = one("regex", "x" * 5_000, None, config)
        assert (result.status, result.score, result.code) == ("error", None, "pattern_timeout")


def test_a_large_program_on_a_long_text_gets_the_engine_with_a_limit(monkeypatch: Any) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_SECONDS", 0.01)
    monkeypatch.setattr(patterns, "MAX_LINEAR_STEPS", 1_000)
    with pytest.raises(OutsideProblem) as caught:
        compile_pattern("(a+)+b").is_in("a" * 5_000)
    assert caught.value.code == "pattern_timeout"


def test_texts_with_half_characters_are_searched() -> None:
    assert compile_pattern("b").is_in("\ud800b")


def test_regex_searches_the_text_of_any_output() -> None:
    assert one("regex", {"b": 1, "a": [True]}, None, {"pattern": r'^\{"a":\[true\]'}).score == 1.0
    assert one("regex", None, None, {"pattern": "^$"}).score == 1.0
    assert one("regex", "x", None, {"pattern": "y" * 200}).reason.startswith('no match for "yyy')


@settings(max_examples=200, deadline=None)
@given(st.text(r"ab.*+?()[]{}|^$\dwsbB1=!<>:,-", max_size=12), st.text("ab1 \n-", max_size=8))
def test_any_pattern_compiles_alike_for_both_engines_or_is_refused(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except ConfigError:
        return
    assert compiled.is_in(text) == compiled._is_in_slowly(text)
