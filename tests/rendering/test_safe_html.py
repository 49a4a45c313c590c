"""The one module that writes HTML: texts go in escaped and come out as they were."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsite.rendering.safe_html import render_text
from scoring.core.textdiff.diff import Mode
from scoring.core.textdiff.side_by_side import TextComparison
from scoring.core.textdiff.text_layout import SHOWN_CHARS, Block, layout_text, mark_spans
from tests.support.payloads import MARKUP

TEXT = "two  words\tand\n<b>a</b> tail "
ODD = "\u200b\u202e\r\ufeff<&>\"' \t\n"
TEXTS = st.text(st.sampled_from("ab" + ODD) | st.characters(exclude_categories=["Cs"]), max_size=80)
OURS = re.compile(
    r'<(?:/?(?:span|ins|del|mark|details|summary)|span class="(?:gap-\w+|diff-skipped|invisible)"'
    r'(?: title="[^"<>]*")?|span class="diff-level" aria-hidden="true"'
    r'|br|details class="diff-fold"|mark class="match" title="[^"<>]*")>'
)
LEVEL = '<span class="diff-level" aria-hidden="true">(?:<br>)+</span>'


def read(markup: str) -> str:
    """The text that somebody copies, with marks read as the characters they name."""
    marks = re.compile(r'<span class="invisible" title="U\+([0-9A-F]+)[^"]*">[^<]*</span>(\n?)')
    parts = marks.split(re.sub(r"<summary>.*?</summary>|" + LEVEL, "", markup))
    plain = [OURS.sub("", part) for part in parts[::3]]
    assert not any("<" in part for part in plain)
    named = [chr(int(code, 16)) for code in parts[1::3]]
    after_ends = zip(named, parts[2::3], strict=True)
    ends = [mark if mark == "\n" else mark + end for mark, end in after_ends]
    return "".join(
        part for pair in zip(map(unescape, plain), [*ends, ""], strict=True) for part in pair
    )


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["char", "word", "line"]), st.booleans())
def test_what_is_drawn_reads_as_the_texts(
    first: str, second: str, mode: Mode, with_spaces: bool
) -> None:
    sides = TextComparison(first, second, mode)
    for seen, text in ((sides.before, first), (sides.after, second)):
        assert read(render_text(seen.blocks, with_spaces=with_spaces)) == text


def test_a_match_tells_by_what_it_was_found_and_hides_nothing_of_it() -> None:
    seen = render_text([Block("mark", mark_spans("me"), name='a "\u202e<b>')], with_spaces=False)
    assert seen == '<mark class="match" title="a &quot;U+202E&lt;b&gt;">me</mark>'


def test_a_gap_is_as_many_lines_for_the_eye_alone() -> None:
    seen = render_text([Block("", mark_spans("a b"), empty_lines=3)], with_spaces=False)
    assert seen == '<span class="diff-level" aria-hidden="true"><br><br><br></span>a b'


@pytest.mark.parametrize("payload", MARKUP)
@pytest.mark.parametrize("with_spaces", [False, True])
def test_no_text_becomes_markup(payload: str, with_spaces: bool) -> None:
    for block in (
        Block("", mark_spans(payload)),
        Block("ins", mark_spans(payload, with_ends=True)),
        Block("", mark_spans(payload), folded=payload),
        Block("mark", mark_spans(payload), name=payload),
        Block("", [], 7, payload),
        Block("", mark_spans(payload), empty_lines=2),
    ):
        assert "<" not in OURS.sub("", render_text([block], with_spaces=with_spaces))


def test_white_space_is_marked_on_request_and_never_replaced() -> None:
    spaced = render_text(layout_text(TEXT).blocks, with_spaces=True)
    assert re.findall(r'<span class="gap-(\w+)">(\s+)</span>', spaced) == [
        ("space", "  "), ("tab", "\t"), ("end", "\n"), ("space", " "), ("space", " "),
    ]  # fmt: skip
    assert read(spaced) == TEXT
    assert "gap-" not in render_text(layout_text(TEXT).blocks, with_spaces=False)


@pytest.mark.parametrize("text", ["\r\n\u00a0 x\t\t", " " * SHOWN_CHARS, "é\u2028 \n", ""])
def test_marked_white_space_loses_nothing(text: str) -> None:
    assert read(render_text(layout_text(text).blocks, with_spaces=True)) == text


def test_a_fold_opens_by_itself_and_one_left_out_says_so() -> None:
    folded = Block("", mark_spans("same"), folded="4 unchanged characters")
    assert render_text([folded], with_spaces=False) == (
        '<details class="diff-fold"><summary>4 unchanged characters</summary>same</details>'
    )
    left_out = render_text([folded._replace(spans=[], skipped=4)], with_spaces=False)
    assert left_out == '<span class="diff-skipped">4 unchanged characters, not shown</span>'
