"""JavaScript's regular expressions, with one meaning in both engines."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import ConfigError
from scoring.core.scorers.js_pattern import MAX_LENGTH, MAX_UNROLLED, POSIX_CLASSES
from scoring.core.scorers.pattern import compile_pattern
from tests.support.scoring import refused
from tests.support.speed import quick_enough
from tests.support.thoroughness import examples

POSIX_MEANINGS = {
    "digit": str.isdigit,
    "space": lambda char: char in string.whitespace,
    "word": lambda char: char.isalnum() or char == "_",
    "alpha": str.isalpha,
    "alnum": str.isalnum,
    "upper": str.isupper,
    "lower": str.islower,
    "xdigit": lambda char: char in string.hexdigits,
    "blank": lambda char: char in " \t",
    "punct": lambda char: char in string.punctuation,
    "cntrl": lambda char: char < " " or char == "\x7f",
    "graph": lambda char: " " < char < "\x7f",
    "print": lambda char: " " <= char < "\x7f",
}

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


def test_a_pattern_may_unroll_to_the_limit() -> None:
    assert not compile_pattern(f"(?:a{{100}}b{{100}}){{{MAX_UNROLLED // 200}}}").is_in("ab")


@pytest.mark.parametrize(("pattern", "flags", "text", "found"), MEANINGS)
def test_both_engines_agree(pattern: str, flags: str, text: str, found: bool) -> None:
    compiled = compile_pattern(pattern, flags)
    assert compiled._is_in_slowly(text) is found


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
    with quick_enough(1):
        errors = refused("regex", {"pattern": pattern})
        assert list(errors) == ["pattern"]
        assert text in errors["pattern"][0]


@settings(max_examples=examples(200), deadline=None)
@given(st.text(r"ab.*+?()[]{}|^$\dwsbB1=!<>:,-", max_size=12), st.text("ab1 \n-", max_size=8))
def test_any_pattern_compiles_alike_for_both_engines_or_is_refused(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except ConfigError:
        return
    assert compiled.is_in(text) == compiled._is_in_slowly(text)


POSIX = "`[:digit:]` is no class in JavaScript, but these characters themselves; write `[\\d]`"


@pytest.mark.parametrize(
    ("kind", "config", "warning"),
    [
        ("regex", {"pattern": "^[[:digit:]]+$"}, POSIX),
        ("regex", {"pattern": "/[a[:digit:]]/i"}, POSIX),
        ("regex", {"pattern": "[[:^digit:]]"}, "write `[^\\d]` for `[[:^digit:]]`"),
        ("expression", {"expression": 'matches(output, "[[:digit:]]")'}, POSIX),
        (
            "all",
            {"scorers": [{"type": "regex", "config": {"pattern": "[[:digit:]]"}}]},
            "regex: `[:d",
        ),
    ],
)
def test_a_posix_class_is_warned_of(kind: str, config: dict[str, Any], warning: str) -> None:
    (text,) = configure_scorer(kind, config).warnings
    assert warning in text


@pytest.mark.parametrize("pattern", ["[:digit]", r"\d", "[[:nothing:]]", "a[:]"])
def test_other_brackets_are_not(pattern: str) -> None:
    assert configure_scorer("regex", {"pattern": pattern}).warnings == []


@pytest.mark.parametrize(("name", "inside"), POSIX_CLASSES.items())
def test_what_is_proposed_instead_means_what_was_meant(name: str, inside: str) -> None:
    pattern = compile_pattern(f"[{inside}]")
    is_in = POSIX_MEANINGS[name]
    for number in range(128):
        assert pattern.is_in(chr(number)) == is_in(chr(number)), (name, number)
