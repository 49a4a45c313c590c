"""Long texts in a given room: what differs stays, and nothing is left out without being counted."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.textdiff.side_by_side import mark_differences
from scoring.core.textdiff.text_layout import TextLayout, layout_text
from scoring.core.textdiff.truncation import CONTEXT_CHARS, truncate_layout

ROOM = 600
ODD = "\u200b\u202e\x00\r\ufeff"


def html(text: TextLayout) -> str:
    """As a page writes it: marks in elements, the rest escaped."""
    written = []
    for block in text.blocks:
        spans = "".join(
            f'<span class="invisible" title="{span.name}">{span.code}</span>'
            + ("\n" if span.is_line_feed else "")
            if span.code
            else escape(span.text)
            for span in block.spans
        )
        written.append(f"<{block.tag}>{spans}</{block.tag}>" if block.tag else spans)
    return "".join(written)


def length(text: TextLayout) -> int:
    """Characters of the output: seen, the same in both and skipped, or hidden at either end."""
    seen = sum(
        len(span.text) for block in text.blocks for span in block.spans if block.tag != "del"
    )
    return seen + sum(block.skipped for block in text.blocks) + text.hidden + text.before


def test_a_text_with_room_enough_stays_as_it_is() -> None:
    text = layout_text("short")
    assert truncate_layout(text, 5) is text
    assert truncate_layout(text, 4) is not text


def test_a_text_by_itself_is_cut_at_its_end() -> None:
    found = truncate_layout(layout_text("a" * 1_000), ROOM)
    assert html(found) == "a" * ROOM
    assert found.hidden == 400


def test_what_differs_far_inside_is_kept_with_a_little_around_it() -> None:
    start, end = "so it goes " * 300, " and so on" * 300
    found = truncate_layout(
        mark_differences(f"{start}Monday{end}", f"{start}Tuesday{end}", "word"), 2_000
    )
    seen = html(found)
    assert "<del>Mon</del><ins>Tues</ins>" in seen
    assert seen.startswith("so it goes")
    assert seen.endswith("and so on")
    assert sum(block.skipped for block in found.blocks) == len(start + end) - 4 * CONTEXT_CHARS
    assert found.hidden == 0


def test_a_gap_that_saves_nothing_is_not_made() -> None:
    for length_of_start, gap in (
        (3 * CONTEXT_CHARS, 0),
        (3 * CONTEXT_CHARS + 1, CONTEXT_CHARS + 1),
    ):
        start = "a" * (length_of_start - 1) + " "
        found = truncate_layout(mark_differences(start + "x", start + "y", "word"), 300)
        assert sum(block.skipped for block in found.blocks) == gap


@pytest.mark.parametrize("letter", ["&", '"', "'", "<", "ü", "漢", "😀", "\u200b", "\ud800"])
def test_what_html_makes_long_has_no_more_room_than_the_rest(letter: str) -> None:
    found = truncate_layout(layout_text(letter * 2_000), ROOM)
    size = len(html(found).encode("utf-8", "surrogatepass"))
    assert ROOM - 120 <= size <= ROOM
    assert length(found) == 2_000


TEXTS = st.text(alphabet=st.sampled_from("ab \n<&\"'é" + ODD), max_size=900)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 900), st.sampled_from(["char", "word", "line"]))
def test_the_room_is_kept_and_every_character_is_accounted_for(
    expected: str, output: str, room: int, mode: str
) -> None:
    for text in (mark_differences(expected, output, mode), layout_text(output)):  # type: ignore[arg-type]
        found = truncate_layout(text, room)
        assert len(html(found).encode()) <= room
        assert length(found) == len(output)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_what_is_kept_of_a_comparison_is_in_the_texts(expected: str, output: str) -> None:
    found = truncate_layout(mark_differences(expected, output, "word"), 500)
    sides = {"ins": output, "del": expected}
    for block in found.blocks:
        kept = "".join(span.text for span in block.spans)
        assert all(kept in text for text in ([sides[block.tag]] if block.tag else sides.values()))
