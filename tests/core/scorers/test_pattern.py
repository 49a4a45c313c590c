"""Patterns: JavaScript's meaning, two engines, and nothing that blocks."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.contract import OutsideProblem
from scoring.core.scorers import pattern as patterns
from scoring.core.scorers.pattern import compile_pattern
from tests.support.scoring import one, refused
from tests.support.speed import quick_enough


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


@pytest.mark.parametrize(("pattern", "text"), BOMBS)
def test_no_pattern_blocks(pattern: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_SECONDS", 0.1)
    with quick_enough(10):
        result = one("regex", text, None, {"pattern": pattern})
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


@pytest.mark.parametrize("pattern", ["é", "é(?=.|$)"])
@pytest.mark.parametrize(("most", "is_all"), [(2, False), (3, False), (4, True)])
def test_places_are_counted_in_characters_and_up_to_a_limit(
    pattern: str, most: int, is_all: bool
) -> None:
    found = compile_pattern(pattern).places("éaéé", most, 5.0)
    assert found == ([(0, 1), (2, 3), (3, 4)][:most], is_all)
