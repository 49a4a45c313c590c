"""Differences between texts: complete, readable and bounded."""

from __future__ import annotations

import itertools
import unicodedata
from textwrap import wrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.textdiff import diff as diff_module
from scoring.core.textdiff.diff import Diff, Mode, Segment, diff, mark_invisible

modes = st.sampled_from(["char", "word", "line"])
texts = st.text(st.sampled_from("abc dé\n\r😀.,"), max_size=60) | st.text(max_size=30)


def left(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.left for segment in segments)


def right(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.right for segment in segments)


def short(found: Diff) -> list[str]:
    """Segments as =text, -removed, +added or -removed+added."""
    written = {
        "equal": lambda segment: f"={segment.left}",
        "added": lambda segment: f"+{segment.right}",
        "removed": lambda segment: f"-{segment.left}",
        "replaced": lambda segment: f"-{segment.left}+{segment.right}",
    }
    return [written[segment.op](segment) for segment in found.segments]


def finest(segments: tuple[Segment, ...]) -> list[str]:
    """The same of the parts, where there are any."""
    nested = (finest(one.parts) if one.parts else short(Diff((one,))) for one in segments)
    return [text for each in nested for text in each]


@given(texts, texts, modes)
def test_the_segments_give_both_texts_back(expected: str, actual: str, mode: Mode) -> None:
    found = diff(expected, actual, mode)
    assert (left(found.segments), right(found.segments)) == (expected, actual)
    assert not found.is_truncated


@given(texts, texts, modes)
def test_every_segment_is_what_its_name_says(expected: str, actual: str, mode: Mode) -> None:
    segments = diff(expected, actual, mode).segments
    for segment in segments:
        assert (segment.op == "equal") == (segment.left == segment.right)
        assert (segment.op == "added") == (segment.left == "")
        assert (segment.op == "removed") == (segment.right == "")
        if segment.parts:
            assert (left(segment.parts), right(segment.parts)) == (segment.left, segment.right)
    for before, after in itertools.pairwise(segments):
        assert (before.op == "equal") != (after.op == "equal")


@given(texts, modes)
def test_a_text_equals_itself(text: str, mode: Mode) -> None:
    assert diff(text, text, mode).segments == ((Segment("equal", text, text),) if text else ())


@pytest.mark.parametrize(
    ("mode", "expected", "actual", "wanted"),
    [
        (
            "word",
            "issued on Monday.",
            "issued on Tuesday.",
            ["=issued on ", "-Monday+Tuesday", "=."],
        ),
        ("word", "one two", "one", ["=one", "- two"]),
        ("word", "one", "one two", ["=one", "+ two"]),
        ("word", "a b c", "x y z", ["-a b c+x y z"]),
        ("word", "naïve café", "naïve cafe", ["=naïve ", "-café+cafe"]),
        ("word", "a  b", "a b", ["=a", "-  + ", "=b"]),
        ("char", "kitten", "sitting", ["-k+s", "=itt", "-en+ing"]),
        ("char", "abc", "xbz", ["-abc+xbz"]),
        ("line", "a\nb\nc\n", "a\nB\nc\n", ["=a\n", "-b\n+B\n", "=c\n"]),
        (
            "line",
            "[\n1,\n{\n2\n}",
            "[\n7,\n{\n8\n}",
            ["=[\n", "-1,\n+7,\n", "={\n", "-2\n+8\n", "=}"],
        ),
        ("line", "a\r\nb", "a\nb", ["-a\r\n+a\n", "=b"]),
        ("word", "", "", []),
    ],
)
def test_worked_examples(mode: Mode, expected: str, actual: str, wanted: list[str]) -> None:
    assert short(diff(expected, actual, mode)) == wanted


def test_a_replaced_pair_that_is_alike_is_looked_into() -> None:
    pair = diff("on Monday", "on Tuesday").segments[1]
    assert pair.parts == (Segment("replaced", "Mon", "Tues"), Segment("equal", "day", "day"))
    assert diff("on Monday", "on 7").segments[1].parts == ()


@pytest.mark.parametrize("size", [100, 5_000, 90_000])
def test_one_letter_is_found_in_a_word_of_any_length(size: int) -> None:
    """Such as an address, or something in base 64."""
    pair = diff("see " + "ab" * size, "see " + "ab" * (size // 2) + "X" + "ab" * (size // 2))
    assert [part.op for part in pair.segments[-1].parts] == ["equal", "added", "equal"]
    assert pair.segments[-1].parts[1].right == "X"


def test_a_replaced_line_is_looked_into_by_words() -> None:
    pair = diff("same\nthe old words here\n", "same\nthe new words here\n", "line").segments[1]
    assert [part.op for part in pair.parts] == ["equal", "replaced", "equal"]
    assert pair.parts[1] == Segment("replaced", "old", "new")


LINED: list[tuple[list[str], list[str], list[str]]] = [
    (
        ["The refund was issued on Monday.", "It takes five days.", "Good bye."],
        ["The refund was issued on Tuesday.", "It takes ten days.", "Good night."],
        ["-Monday+Tuesday", "-five+ten", "-bye+night"],
    ),
    (
        ['"city": "Berlin",', '"zip": "10115",'],
        ['"city": "Hamburg",', '"country": "DE",', '"zip": "20095",'],
        ["-Berlin+Hamburg", '+"country": "DE",\n', "-10115+20095"],
    ),
    (
        ["first one", "a line that goes", "second one"],
        ["first two", "second two"],
        ["-one+two", "-a line that goes\n", "-one+two"],
    ),
    (
        ["nothing in common", "with these lines"],
        ["42 %", "=", "[]"],
        ["-nothing in common\nwith these lines\n+42 %\n=\n[]\n"],
    ),
]


@pytest.mark.parametrize(("before", "after", "wanted"), LINED)
def test_changed_lines_in_a_row_are_each_beside_their_counterpart(
    before: list[str], after: list[str], wanted: list[str]
) -> None:
    texts = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    assert [text for text in finest(diff(*texts, "line").segments) if text[0] != "="] == wanted


@pytest.mark.parametrize(("width", "other"), [(40, 30), (30, 40), (60, 40)])
def test_lines_that_are_only_broken_anew_are_compared_as_one_text(width: int, other: int) -> None:
    """Else a third of each line would count as gone, and as new in the next one."""
    text = "The refund was issued on Monday, and it takes five working days to arrive on the "
    text += "account from which the order was paid, unless the bank holds it back for a check."
    before, after = ("\n".join(wrap(text, each)) for each in (width, other))
    found = finest(diff(before, after, "line").segments)
    assert sum(len(part) - 1 for part in found if part[0] == "=") >= 0.9 * len(text)


@pytest.fixture
def every_second_line() -> tuple[str, str]:
    """200,000 characters, and the same with a word changed in every second line."""
    pairs = [("a b c d", "a x c y"), ("keep", "keep")] * 16_000
    before, after = ("\n".join(each)[:200_000] for each in zip(*pairs, strict=True))
    return before, after


def test_only_as_many_lines_are_looked_into_as_a_reader_takes_in(
    every_second_line: tuple[str, str],
) -> None:
    found = diff(*every_second_line, "line")
    assert sum(bool(segment.parts) for segment in found.segments) == 400
    changed = [segment for segment in found.segments if segment.op != "equal"]
    assert 20_000 < len(left(tuple(changed))) <= 20_010  # the page shows no more, the rest is told
    assert found.left_rest == len(every_second_line[0]) - len(left(found.segments))


def diff_with_low_limits(expected: str, actual: str, mode: Mode) -> Diff:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(diff_module, "MAX_CHARS", 100)
        patched.setattr(diff_module, "MAX_TOKENS", 40)
        patched.setattr(diff_module, "CONTEXT", 10)
        return diff(expected, actual, mode)


@given(expected=texts, actual=texts, mode=modes, times=st.integers(2, 6))
def test_a_long_text_shows_a_stretch_of_itself(
    expected: str, actual: str, mode: Mode, times: int
) -> None:
    expected, actual = expected * times, actual * times
    found = diff_with_low_limits(expected, actual, mode)
    start = found.start
    assert expected[:start] == actual[:start]
    assert left(found.segments) == expected[start : len(expected) - found.left_rest]
    assert right(found.segments) == actual[start : len(actual) - found.right_rest]


def test_a_late_difference_is_shown_with_a_little_before_it() -> None:
    found = diff_with_low_limits("x" * 500 + "a" + "y" * 5, "x" * 500 + "b" + "y" * 5, "char")
    assert found.start == 490
    assert short(found) == ["=" + "x" * 10, "-a+b", "=yyyyy"]
    assert found.is_truncated


def test_equal_long_texts_are_shown_from_their_start() -> None:
    found = diff_with_low_limits("x" * 500, "x" * 500, "char")
    assert (found.start, found.left_rest, found.right_rest) == (0, 400, 400)


@pytest.mark.parametrize(
    ("char", "label"),
    [
        ("\u202e", "U+202E right-to-left override"),
        ("\u200b", "U+200B zero width space"),
        ("\u200d", "U+200D zero width joiner"),
        ("\u00ad", "U+00AD soft hyphen"),
        ("\u00a0", "U+00A0 no-break space"),
        ("\ufeff", "U+FEFF zero width no-break space"),
        ("\u2028", "U+2028 line separator"),
        ("\u3000", "U+3000 ideographic space"),
        ("\u2066", "U+2066 left-to-right isolate"),
        ("\ufe0f", "U+FE0F variation selector-16"),
        ("\u3164", "U+3164 hangul filler"),
        ("\u2800", "U+2800 braille pattern blank"),
        ("\U000e0041", "U+E0041 tag latin capital letter a"),
        ("\x00", "U+0000 null"),
        ("\x1b", "U+001B escape"),
        ("\r", "U+000D carriage return"),
        ("\x01", "U+0001 control"),
        ("\x9f", "U+009F control"),
        ("\ue000", "U+E000 private use"),
        ("\uffff", "U+FFFF unassigned"),
        ("\ud800", "U+D800 half a character"),
    ],
)
def test_invisible_characters_are_labelled(char: str, label: str) -> None:
    assert mark_invisible(f"a{char}b") == [("a", None), (char, label), ("b", None)]


@pytest.mark.parametrize(
    "text",
    ["plain text\n\twith tabs", "é ß 中文 עברית", "👩\u200d👩\u200d👧 ❤\ufe0f 👍🏽", "a\u0301"],
)
def test_visible_text_stays_in_one_piece(text: str) -> None:
    assert mark_invisible(text) == [(text, None)]


def test_an_empty_text_has_no_pieces() -> None:
    assert mark_invisible("") == []


@given(st.text(max_size=40))
def test_the_pieces_give_the_text_back_and_leave_nothing_invisible(text: str) -> None:
    pieces = mark_invisible(text)
    assert "".join(piece.text for piece in pieces) == text
    for piece in pieces:
        if piece.label is not None:
            assert len(piece.text) == 1
        else:
            hidden = {
                char for char in piece.text if unicodedata.category(char) in {"Cc", "Zl", "Zp"}
            }
            assert hidden <= {"\t", "\n"}
