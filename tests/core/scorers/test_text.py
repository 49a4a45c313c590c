"""exact_match, includes and levenshtein."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from tests.support import oracles
from tests.support.scoring import one, refused

TEXTS = st.text("ab cdéß😀İ", max_size=30)


@pytest.mark.parametrize(
    ("output", "expected", "config", "score"),
    [
        ("Paris", "Paris", {}, 1.0),
        ("paris", "Paris", {}, 0.0),
        ("paris", "Paris", {"case_sensitive": False}, 1.0),
        ("ΟΔΟΣ", "οδος", {"case_sensitive": False}, 1.0),
        ("STRASSE", "straße", {"case_sensitive": False}, 0.0),
        (" Paris", "Paris", {}, 0.0),
        (" Paris\n", "Paris", {"trim": True}, 1.0),
        ("Paris", "\tParis ", {"trim": True}, 1.0),
        ("Pa ris", "Paris", {"trim": True}, 0.0),
        ("", "", {}, 1.0),
        ("", " ", {"trim": True}, 1.0),
        ("a", "", {}, 0.0),
        ("4", 4, {}, 1.0),
        ("4", 4.0, {}, 1.0),
        (4, "4", {}, 1.0),
        ("4.0", 4.0, {}, 0.0),
        ("true", True, {}, 1.0),
        ("True", True, {}, 0.0),
        ("1e+21", 1e21, {}, 1.0),
        ("0.000001", 1e-6, {}, 1.0),
        ('{"a":1,"b":[2]}', {"b": [2], "a": 1}, {}, 1.0),
        ("[1,2,3]", [1, 2, 3], {}, 1.0),
        ({"v": 1.0}, {"v": 1}, {}, 1.0),
        (None, "", {}, 1.0),
        ("null", "null", {}, 1.0),
        ("cafe\u0301", "café", {}, 0.0),
        ("yes", "yes", {"classes": ["yes", "no"]}, 1.0),
    ],
)
def test_exact_match(output: Any, expected: Any, config: dict[str, Any], score: float) -> None:
    assert one("exact_match", output, expected, config).score == score


def test_exact_match_shows_short_texts_and_spares_long_ones() -> None:
    assert one("exact_match", "b\n", "a").reason == 'expected "a", got "b\\n"'
    assert one("exact_match", "b" * 99, "a").reason == "the output differs from the expected text"


@pytest.mark.parametrize(
    ("output", "expected", "config", "score"),
    [
        ("The capital is Paris.", "Paris", {}, 1.0),
        ("the capital is paris.", "Paris", {}, 0.0),
        ("the capital is paris.", "PARIS", {"case_sensitive": False}, 1.0),
        ("abc", "", {}, 1.0),
        ("", "", {}, 1.0),
        ("", "a", {}, 0.0),
        ("answer: 42.0", 42, {}, 1.0),
        ("answer: 42", 42.0, {}, 1.0),
        ({"a": [1, 2]}, "[1,2]", {}, 1.0),
        ('{"a":1}', {"a": 1}, {}, 1.0),
        ("a.c", "abc", {}, 0.0),
        ("abc", None, {"values": ["a", "c"]}, 1.0),
        ("abc", None, {"values": ["a", "x"]}, 0.0),
        ("abc", None, {"values": ["a", "x"], "mode": "any"}, 1.0),
        ("abc", None, {"values": ["x", "y"], "mode": "any"}, 0.0),
        ("ABC", None, {"values": ["a", "b"], "case_sensitive": False}, 1.0),
        ("abc", "zzz", {"values": ["a"]}, 1.0),  # values replace expected
        ("abc", "a", {"values": ["z"]}, 0.0),
        ("abc", "b", {"values": []}, 1.0),  # none given: expected counts
        ("abc", None, {"values": ["c"], "mode": "all"}, 1.0),
        ("İstanbul", "i̇stanbul", {"case_sensitive": False}, 1.0),
    ],
)
def test_includes(output: Any, expected: Any, config: dict[str, Any], score: float) -> None:
    assert one("includes", output, expected, config).score == score


def test_includes_names_the_first_missing_value() -> None:
    result = one("includes", "abc", None, {"values": ["a", "x", "y"]})
    assert result.reason == 'the output does not include "x" and 1 more'


def test_an_empty_value_to_include_is_refused() -> None:
    assert "every output" in refused("includes", {"values": ["a", ""]})["values"][0]


@pytest.mark.parametrize(
    ("output", "expected", "config", "score", "distance", "longest"),
    [
        ("hello world", "Hello World", {"case_sensitive": True}, 0.82, 2, 11),
        ("hello world", "Hello World", {}, 1.0, 0, 11),
        ("Hello World!", "Hello World", {"case_sensitive": True}, 0.92, 1, 12),
        ("customer service", "customer support", {}, 0.63, 6, 16),
        ("helo", "hello", {}, 0.8, 1, 5),
        ("", "", {}, 1.0, 0, 0),
        ("abc", "", {}, 0.0, 3, 3),
        ("", "abc", {}, 0.0, 3, 3),
        ("kitten", "sitting", {"decimals": None}, 4 / 7, 3, 7),
        ("kitten", "sitting", {"decimals": 0}, 1.0, 3, 7),
        ("kitten", "sitting", {"decimals": 4}, 0.5714, 3, 7),
        ("a" * 40, "b" * 13 + "a" * 27, {}, 0.68, 13, 40),  # 0.675
        ("a" * 8, "b" * 5 + "a" * 3, {}, 0.38, 5, 8),  # 0.375
        ("a" * 200, "b" + "a" * 199, {}, 1.0, 1, 200),  # 0.995 half up
        ("a" * 201, "b" + "a" * 200, {}, 1.0, 1, 201),
        ("a" * 100, "b" + "a" * 99, {}, 0.99, 1, 100),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👦", {}, 0.8, 1, 5),
        ("😀", "😁", {}, 0.0, 1, 1),
        ("é", "e\u0301", {}, 0.0, 2, 2),
        ("İstanbul", "istanbul", {}, 0.89, 1, 9),
        ("ΟΔΟΣ", "οδοσ", {}, 0.75, 1, 4),
        (42, "43", {}, 0.5, 1, 2),
        ({"a": 1}, '{"a":2}', {}, 0.86, 1, 7),
    ],
)
def test_levenshtein(
    output: Any, expected: Any, config: dict[str, Any], score: float, distance: int, longest: int
) -> None:
    result = one("levenshtein", output, expected, config)
    assert result.score == score
    assert result.metadata == {"distance": distance, "max_length": longest, "truncated": False}


def test_levenshtein_cuts_both_texts_and_says_so() -> None:
    result = one("levenshtein", "abcdef", "abcxyzuvw", {"max_chars": 3})
    assert result.score == 1.0
    assert result.metadata == {"distance": 0, "max_length": 3, "truncated": True}
    assert one("levenshtein", "abc", "abd", {"max_chars": 3}).metadata["truncated"] is False


def test_levenshtein_lower_cases_before_it_cuts() -> None:
    longer = "İ" * 10  # lower-cased it has 20 code points
    assert one("levenshtein", longer, longer.lower(), {"max_chars": 10}).score == 1.0
    assert one("levenshtein", longer, "x", {"max_chars": 10}).metadata["max_length"] == 10


def test_levenshtein_rounds_before_it_compares_with_the_threshold() -> None:
    assert one("levenshtein", "a" * 201, "b" + "a" * 200, {"threshold": 1}).verdict == "pass"
    config = {"threshold": 1, "decimals": None}
    assert one("levenshtein", "a" * 201, "b" + "a" * 200, config).verdict == "fail"


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"decimals": -1}, "decimals"),
        ({"decimals": 10}, "decimals"),
        ({"decimals": 2.0}, "decimals"),
        ({"max_chars": 0}, "max_chars"),
        ({"max_chars": 100_001}, "max_chars"),
        ({"max_chars": None}, "max_chars"),
        ({"case_sensitive": "yes"}, "case_sensitive"),
    ],
)
def test_bad_levenshtein_configs_are_refused(config: dict[str, Any], name: str) -> None:
    assert list(refused("levenshtein", config)) == [name]


@given(TEXTS, TEXTS, st.integers(0, 9))
def test_levenshtein_is_the_exact_fraction_rounded_half_up(a: str, b: str, decimals: int) -> None:
    longest = max(len(a), len(b))
    exact = Fraction(longest - oracles.levenshtein(a, b), longest) if longest else Fraction(1)
    rounded = Fraction(int(exact * 10**decimals + Fraction(1, 2)), 10**decimals)
    config = {"case_sensitive": True, "decimals": decimals}
    assert one("levenshtein", a, b, config).score == float(rounded)


@given(TEXTS, TEXTS)
def test_levenshtein_is_symmetric_and_one_only_for_equal_texts(a: str, b: str) -> None:
    config = {"case_sensitive": True, "decimals": None}
    there, back = one("levenshtein", a, b, config), one("levenshtein", b, a, config)
    assert there == back
    assert (there.score == 1.0) == (a == b)


@given(TEXTS, TEXTS)
def test_exact_match_implies_the_others(a: str, b: str) -> None:
    if one("exact_match", a, b).score == 1.0:
        assert one("includes", a, b).score == one("levenshtein", a, b).score == 1.0


def test_long_texts_are_compared_within_their_limit() -> None:
    cases = [Case("ab" * 500_000, "ba" * 500_000)]
    (result,) = configure_scorer("levenshtein").score(cases)
    assert result.metadata == {"distance": 2, "max_length": 10_000, "truncated": True}
