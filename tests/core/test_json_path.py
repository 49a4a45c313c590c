"""Paths into JSON values, written and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.json_path import Path, StepTexts, parse_path, path_text, step_text, whole_path


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), "$"),
        (("a",), "a"),
        (("result", "items", 0, "name"), "result.items[0].name"),
        ((2,), "[2]"),
        (("x y", "a.b", 0), '["x y"]["a.b"][0]'),
        (("", "ключ"), '[""].ключ'),
        (("$",), '["$"]'),
        (("a", "$", "$b"), 'a["$"].$b'),
        (('quo"te', "back\\slash"), '["quo\\"te"].back\\slash'),
    ],
)
def test_paths_are_written_and_read(steps: Path, text: str) -> None:
    assert path_text(steps) == text
    assert parse_path(text) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("items[*].id", ("items", "*", "id")),
        ("*.id", ("*", "id")),
        ("a.[0]", ("a", 0)),
        ("with space.b", ("with space", "b")),
    ],
)
def test_wildcards_and_loose_spellings_are_read(text: str, steps: Path) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize("text", ["", "a..b", "a.", "[", "a[", "a[x]", "a]b", ".a"])
def test_unreadable_paths_say_where(text: str) -> None:
    with pytest.raises(ValueError, match="character"):
        parse_path(text)


@given(st.lists(st.text(max_size=5).filter(lambda key: "*" not in key) | st.integers(0, 99)))
def test_every_path_reads_back(steps: list[str | int]) -> None:
    assert parse_path(path_text(steps)) == tuple(steps)


@given(st.lists(st.text(max_size=3) | st.integers(0, 99), max_size=4))
def test_a_path_grows_step_by_step(steps: list[str | int]) -> None:
    known = StepTexts()
    assert whole_path("".join(known[step] for step in steps)) == path_text(steps)
    assert known == {step: step_text(step) for step in steps}
