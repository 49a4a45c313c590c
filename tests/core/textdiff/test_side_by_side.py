"""Two texts in one or side by side: whatever is folded, they are put together again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.textdiff.diff import Mode
from scoring.core.textdiff.side_by_side import (
    FOLDED,
    TextComparison,
    block_length,
    compare_third_text,
    mark_differences,
)
from scoring.core.textdiff.text_layout import SHOWN_CHARS, TextLayout

MODES: list[Mode] = ["char", "word", "line"]
ODD = "\u200b\u202e\x00\r\ufeff"
PARTS = st.sampled_from(["a b ", "line\n", "\t<&>\n", ODD, "same all along " * 30, "row\n" * 20])
TEXTS = st.lists(PARTS, max_size=12).map("".join)


def put_together(text: TextLayout, *left_out: str) -> str:
    return "".join(each.text for each in text.blocks if each.tag not in left_out)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(MODES))
def test_every_view_holds_its_text_character_for_character(
    first: str, second: str, mode: Mode
) -> None:
    sides = TextComparison(first, second, mode)
    assert put_together(sides.both, "ins") == first
    assert put_together(sides.both, "del") == second
    assert put_together(sides.before) == first
    assert put_together(sides.after) == second
    assert {each.tag for each in sides.before.blocks} <= {"", "del"}
    assert {each.tag for each in sides.after.blocks} <= {"", "ins"}


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(MODES))
def test_only_what_both_texts_say_is_folded(first: str, second: str, mode: Mode) -> None:
    folded = [each for each in TextComparison(first, second, mode).both.blocks if each.folded]
    assert all(not each.tag and each.text in first and each.text in second for each in folded)


@pytest.mark.parametrize("mode", MODES)
def test_a_change_far_inside_keeps_its_surroundings_in_sight(mode: Mode) -> None:
    lines = [f"line {n}\n" for n in range(100)]
    changed = [*lines[:50], "another\n", *lines[51:]]
    seen = TextComparison("".join(lines), "".join(changed), mode).after.blocks
    first, second = [each.folded for each in seen if each.folded]
    assert (first, second) in {
        ("47 unchanged lines", "46 unchanged lines"),
        ("47 unchanged lines", "47 unchanged lines"),  # where the line's end is unchanged too
    }
    in_sight = "".join(each.text for each in seen if not each.folded)
    around = ["line 47\n", "line 48\n", "line 49\n", "another\n", "line 51\n", "line 52\n"]
    assert in_sight.startswith("".join(around))
    assert len(in_sight) <= len("".join(around)) + len("line 53\n")


@pytest.mark.parametrize(
    ("first", "second", "left", "right"),
    [
        ("a\nb\nc\n", "a\nc\n", "a|b|c", "a||c"),
        ("a\nc\n", "a\nb\nbb\nc\n", "a|||c", "a|b|bb|c"),
        ("one two\nb\nc\n", "one 2\nc\n", "one two|b|c", "one 2||c"),
        ("x 1\nc\nd\ne\n", "c\nyes\nd\ne\n", "x 1|c||d|e", "|c|yes|d|e"),
        ("a\nb\n", "a\n", "a|b", "a"),  # nothing follows that could be level
        ("a\nb\nc", "a\nc", "a|b|c", "a||c"),
    ],
)
def test_lines_that_both_have_are_level(first: str, second: str, left: str, right: str) -> None:
    sides = TextComparison(first, second, "line")
    for seen, lines in ((sides.before, left), (sides.after, right)):
        laid = "".join("\n" * each.empty_lines + each.text for each in seen.blocks)
        assert laid.splitlines() == lines.split("|")


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(MODES))
def test_empty_lines_stand_before_whole_lines_of_a_line_diff_alone(
    first: str, second: str, mode: Mode
) -> None:
    sides = TextComparison(first, second, mode)
    assert not any(each.empty_lines for each in sides.both.blocks)
    for seen in (sides.before, sides.after):
        text = ""
        for each in seen.blocks:
            is_at_a_start = not text or text.endswith("\n")
            assert not each.empty_lines or (mode == "line" and is_at_a_start)
            text += each.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "one line", "line\n" * 1_000])
def test_equal_texts_are_not_folded(mode: Mode, text: str) -> None:
    for seen in (TextComparison(text, text, mode).both, TextComparison(text, text, mode).after):
        assert not any(each.folded for each in seen.blocks)
        assert put_together(seen) == text


def test_a_fold_too_long_for_the_page_only_says_how_long_it_is() -> None:
    first = "a " * FOLDED + "end"
    seen = TextComparison(first, first[:-3] + "END", "word").after
    (fold,) = [each for each in seen.blocks if each.folded]
    assert not fold.spans
    assert fold.folded == f"{fold.skipped:,} unchanged characters"
    assert sum(map(block_length, seen.blocks)) + seen.hidden + seen.before == len(first)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [SHOWN_CHARS + 1, 300_000, 3_000_000])
def test_every_character_that_is_not_shown_is_counted(mode: Mode, size: int) -> None:
    first, second = ("zebra " * size)[:size], ("horse, " * size)[: size + 5]
    sides = TextComparison(first, second, mode)
    for seen, text in ((sides.before, first), (sides.after, second)):
        assert sum(map(block_length, seen.blocks)) + seen.hidden + seen.before == len(text)
        assert seen.hidden > 0


def test_what_one_text_adds_takes_no_room_of_the_other() -> None:
    short, long = "a\nb\n" + "gone\n" * 400 + "c\n", "a\n" + "new\n" * 4_700 + "b\nc\n"
    before = TextComparison(short, long, "line").before
    after = TextComparison(long, short, "line").after
    assert (put_together(before), before.hidden) == (short, 0)
    assert (put_together(after), after.hidden) == (short, 0)


@pytest.mark.parametrize("mode", MODES)
def test_of_two_long_texts_with_nothing_in_common_both_are_shown(mode: Mode) -> None:
    first, second = "zebra " * SHOWN_CHARS, "horse, " * SHOWN_CHARS
    sides = TextComparison(first, second, mode)
    assert put_together(sides.before).startswith(first[: SHOWN_CHARS // 2])
    assert put_together(sides.after).startswith(second[: SHOWN_CHARS // 2])
    assert put_together(sides.both, "ins") == put_together(sides.before)
    assert put_together(sides.both, "del") == put_together(sides.after)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(MODES))
def test_what_is_hidden_of_a_text_is_its_end(first: str, second: str, mode: Mode) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scoring.core.textdiff.side_by_side.SHOWN_CHARS", 40)
        sides = TextComparison(first, second, mode)
        seen, both = (sides.before, sides.after), sides.both
    for each, text in zip(seen, (first, second), strict=True):
        assert text.startswith(put_together(each))
        assert len(text) == sum(map(block_length, each.blocks)) + each.hidden
        assert sum(len(one.text) for one in each.blocks if not one.folded) <= 40
    of_first, of_second = (
        sum(block_length(each) for each in both.blocks if each.tag != other)
        for other in ("ins", "del")
    )
    assert (sides.first_hidden, both.hidden) == (len(first) - of_first, len(second) - of_second)


@pytest.mark.parametrize(
    ("expected", "output", "marks"),
    [
        ("a\nb", "a\r\nb", [("ins", "CR")]),
        ("a\nb", "a\rb", [("del", "↵ LF"), ("ins", "CR")]),
        ("a\n", "a", [("del", "↵ LF")]),
        ("a", "a\n\n", [("ins", "↵ LF"), ("ins", "↵ LF")]),
        ("a\n b", "a b", [("del", "↵ LF")]),
        ("a\nb", "a\nc", []),
        ("one\n", "one\ntwo\n", []),
    ],
)
@pytest.mark.parametrize("mode", ["word", "char", "line"])
def test_a_difference_in_line_ends_alone_is_seen(
    expected: str, output: str, marks: list[tuple[str, str]], mode: Mode
) -> None:
    found = mark_differences(expected, output, mode)
    spans = [(block.tag, span) for block in found.blocks for span in block.spans]
    assert set(marks) <= {(tag, span.code) for tag, span in spans}
    assert not [span for tag, span in spans if span.code and not tag and span.code != "CR"]
    assert "".join(span.text for tag, span in spans if tag != "ins") == expected
    assert "".join(span.text for tag, span in spans if tag != "del") == output


def test_a_late_difference_in_a_long_text_is_still_shown() -> None:
    found = mark_differences("a " * 200_000 + "end", "a " * 200_000 + "END", "word")
    assert found.before > 300_000
    assert {block.tag for block in found.blocks} == {"", "ins", "del"}


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.sampled_from(MODES))
def test_a_third_text_is_whole_and_folded_only_where_all_three_agree(
    third: str, first: str, second: str, mode: Mode
) -> None:
    seen = compare_third_text(third, TextComparison(first, second, mode))
    assert (put_together(seen), seen.hidden) == (third, 0)
    assert {each.tag for each in seen.blocks} <= {""}
    folded = [each.text for each in seen.blocks if each.folded]
    assert all(text in first and text in second for text in folded)


@pytest.mark.parametrize("mode", MODES)
def test_a_third_text_keeps_in_sight_what_any_of_the_three_changes(mode: Mode) -> None:
    lines = [f"line {n} of a long answer\n" for n in range(120)]
    first, second, third = ([*lines] for _ in range(3))
    first[30] = "the first is another\n"
    second[60:62] = []
    third[90] = "the third is another\n"
    seen = compare_third_text("".join(third), TextComparison("".join(first), "".join(second), mode))
    assert put_together(seen) == "".join(third)
    in_sight = "".join(each.text for each in seen.blocks if not each.folded)
    assert all(third[n] in in_sight for n in (29, 30, 31, 60, 61, 89, 90, 91))
    assert not any(third[n] in in_sight for n in (0, 10, 45, 75, 110))


def test_a_third_text_beside_two_that_begin_far_away_is_shown_from_its_start() -> None:
    long = "row of a long text\n" * 20_000
    seen = compare_third_text(long, TextComparison(long + "a", long + "b", "word"))
    assert (len(put_together(seen)), seen.hidden) == (SHOWN_CHARS, len(long) - SHOWN_CHARS)


def test_a_third_text_ends_where_the_other_two_are_compared_no_longer() -> None:
    third = "".join(f"line {n} of a long answer\n" for n in range(3_000))
    pair = TextComparison(third.replace("line", "row"), third, "word")
    seen = compare_third_text(third, pair)
    assert third.startswith(put_together(seen))
    assert len(put_together(seen)) + seen.hidden == len(third)
    assert seen.hidden >= pair.changes.right_rest > 0
