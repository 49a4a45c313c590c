"""Tables of figures as lines of text."""

from __future__ import annotations

import pytest

from scoring.core.wording.tables import align_columns, interval_text, markdown_table

ROWS = [("name", "n", "note"), ("a|b", "1,000", "x"), ("long name", "7", "")]


def test_columns_align_right_but_those_of_texts() -> None:
    assert align_columns(ROWS, left=(0, 2)) == [
        "name           n  note",
        "a|b        1,000  x",
        "long name      7",
    ]
    assert align_columns(ROWS)[0] == "name           n  note"
    assert align_columns(ROWS)[1] == "a|b        1,000     x"


def test_markdown_rules_its_head_and_escapes_bars() -> None:
    assert markdown_table(ROWS[:2]) == [
        "| name | n | note |",
        "| --- | --- | --- |",
        "| a&#124;b | 1,000 | x |",
    ]


@pytest.mark.parametrize(
    ("interval", "text"), [(None, "0.812"), ((0.7, 0.99999), "0.812 [0.700, 0.99999]")]
)
def test_a_figure_shows_its_interval(interval: tuple[float, float] | None, text: str) -> None:
    assert interval_text(0.8123, interval) == text
