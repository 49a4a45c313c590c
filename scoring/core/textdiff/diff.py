"""Differences between two texts, as segments people can read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from scoring.core.textdiff.line_matching import match_lines

Mode = Literal["char", "word", "line"]
Op = Literal["equal", "added", "removed", "replaced"]

MAX_CHARS: Final = 200_000  # of each text; a page shows no more
MAX_TOKENS: Final = 20_000  # from the first difference on: the table of matches then takes 50 MB
MAX_CHANGED: Final = 20_000  # characters of changed text of one side; a page shows no more
CONTEXT: Final = 2_000  # characters kept before the first difference of a long text

_FINER: Final[dict[Mode, Mode]] = {"line": "word", "word": "char"}
_MAX_FINER: Final = {"word": 20_000, "char": 4_000}  # characters of a pair, but for alike ends
_MAX_PAIRS: Final[dict[Mode, int]] = {"line": 400, "word": 2_000}  # of one diff, looked into
_ALIKE: Final = 0.4  # share of equal characters from which a replaced pair is looked into
_BY_LINES: Final = 0.75  # share of what several lines have in common that lines beside lines keep

_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


class Segment(NamedTuple):
    """`left` is of the expected text, `right` of the actual one; an equal segment has both.

    `parts` is a finer diff of a replaced pair that has much in common, else empty.
    """

    op: Op
    left: str
    right: str
    parts: tuple[Segment, ...] = ()


class Diff(NamedTuple):
    """Segments in order. Of long texts `start` characters before and the rests are left out."""

    segments: tuple[Segment, ...]
    start: int = 0
    left_rest: int = 0
    right_rest: int = 0

    @property
    def is_truncated(self) -> bool:
        return bool(self.start or self.left_rest or self.right_rest)


def diff(expected: str, actual: str, mode: Mode = "word") -> Diff:
    """How `actual` differs from `expected`.

    All `left` of the segments joined give the expected text and all `right` the actual one, as
    far as they are not left out. Bounded: texts of any size take well under a second.
    """
    start = _start(expected, actual)
    left = _tokens(expected[start : start + MAX_CHARS], mode)
    right = _tokens(actual[start : start + MAX_CHARS], mode)
    end = common_start(left, right) + MAX_TOKENS
    segments = tuple(_PairRefiner(mode).refine(_segments(left[:end], right[:end], mode)))
    left_rest = len(expected) - start - sum(len(segment.left) for segment in segments)
    right_rest = len(actual) - start - sum(len(segment.right) for segment in segments)
    return Diff(segments, start, left_rest, right_rest)


#: Whether equal, from and to in the left text, from and to in the right one, and the characters
#: of the longer side. Spans of a diff follow each other without gaps. There are thousands, and
#: plain tuples are made in a fifth of the time of named ones.
_Span = tuple[bool, int, int, int, int, int]


def _start(expected: str, actual: str) -> int:
    """Where to begin: at 0, or shortly before the first difference when that is far away."""
    longest = max(len(expected), len(actual))
    if longest <= MAX_CHARS:
        return 0
    common = common_start(expected, actual)
    return 0 if common == longest else max(0, common - CONTEXT)


def common_start(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the common beginning, by halving: slices compare at memory speed."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _tokens(text: str, mode: Mode) -> Sequence[str]:
    if mode == "char":
        return text
    return (_WORD if mode == "word" else _LINE).findall(text)


def _segments(left: Sequence[str], right: Sequence[str], mode: Mode) -> Iterator[Segment]:
    """Equal segments and edits by turns, without parts."""
    left_text, right_text = "".join(left), "".join(right)
    spans = _spans(left, right)
    if mode != "line":  # a single equal line is readable
        spans = iter(_merge_short_equalities(spans))
    for is_equal, left_from, left_to, right_from, right_to, _ in spans:
        removed = left_text[left_from:left_to]
        added = right_text[right_from:right_to]
        if is_equal:
            yield Segment("equal", removed, added)
        else:
            yield from _edit_segments(removed, added)


def _edit_segments(removed: str, added: str) -> Iterator[Segment]:
    if removed or added:
        yield _edit_segment(removed, added)


def _edit_segment(removed: str, added: str, parts: tuple[Segment, ...] = ()) -> Segment:
    op: Op = "replaced" if removed and added else "removed" if removed else "added"
    return Segment(op, removed, added, parts)


def _spans(left: Sequence[str], right: Sequence[str]) -> Iterator[_Span]:
    """Equal spans and edits by turns, from the longest common subsequence of the tokens."""
    from rapidfuzz.distance import LCSseq

    left_offsets, right_offsets = _offsets(left), _offsets(right)
    start, end = _common_ends(left, right)
    left_done = right_done = left_offsets[start]
    if start:
        yield True, 0, left_done, 0, right_done, left_done
    ops = LCSseq.editops(left[start : len(left) - end], right[start : len(right) - end])
    blocks = [(start + block.a, start + block.b, block.size) for block in ops.as_matching_blocks()]
    blocks[-1] = (len(left) - end, len(right) - end, end)  # the last one was empty
    for left_from, right_from, count in blocks:
        left_start, right_start = left_offsets[left_from], right_offsets[right_from]
        if left_start > left_done or right_start > right_done:
            yield _edit(left_done, left_start, right_done, right_start)
        left_done = left_offsets[left_from + count]
        right_done = right_offsets[right_from + count]
        if count:
            size = left_done - left_start
            yield True, left_start, left_done, right_start, right_done, size


def _common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many tokens are equal at the start, and how many after those at the end."""
    start = common_start(left, right)
    return start, common_start(left[start:][::-1], right[start:][::-1])


def _edit(left: int, left_end: int, right: int, right_end: int) -> _Span:
    removed, added = left_end - left, right_end - right
    return False, left, left_end, right, right_end, max(removed, added)


def _offsets(tokens: Sequence[str]) -> Sequence[int]:
    """Where each token begins in the text, and where the last one ends."""
    if isinstance(tokens, str):
        return range(len(tokens) + 1)
    return list(accumulate(map(len, tokens), initial=0))


def _merge_short_equalities(spans: Iterable[_Span]) -> list[_Span]:
    """Without equalities that are no longer than the edits on both of their sides.

    After the semantic clean-up of diff-match-patch (N. Fraser); unlike there an edit's size is
    its longer side, not the sum over edits.
    """
    merged: list[_Span] = []
    for span in spans:
        last = span
        while not last[0] and len(merged) >= 2:
            first, (*_, size) = merged[-2:]
            if size > first[5] or size > last[5]:
                break
            del merged[-2:]
            last = _edit(first[1], last[2], first[3], last[4])
        merged.append(last)
    return merged


class _PairRefiner:
    """Compares the replaced pairs of one diff more finely. `room` is how many more of them."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self.room = _MAX_PAIRS.get(mode, 0)

    def refine(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """The segments up to the edit with which one side has more changes than a page shows."""
        removed = added = 0
        for segment in segments:
            is_pair = segment.op == "replaced" and self.room > 0
            yield segment._replace(parts=self.parts(*segment[1:3])) if is_pair else segment
            if segment.op != "equal":
                removed, added = removed + len(segment.left), added + len(segment.right)
            if max(removed, added) > MAX_CHANGED:
                return

    def parts(self, removed: str, added: str) -> tuple[Segment, ...]:
        """The pair in words, or in characters; of several lines each with its counterpart.

        Where rewrapped lines have clearly more in common as one text, the pair in words.
        """
        if self.mode != "line" or "\n" not in removed[:-1] + added[:-1]:
            self.room -= 1
            return _refine_pair(removed, added, self.mode)
        lines = tuple(self.lines(removed, added))
        common = _count_equal(lines)
        if common >= _BY_LINES * min(len(removed), len(added)):
            return lines
        words = _refine_pair(removed, added, self.mode)
        return lines if common >= _BY_LINES * _count_equal(words) else words

    def lines(self, removed: str, added: str) -> Iterator[Segment]:
        """The lines of both sides, those that belong together compared by words."""
        left, right = (_whole_lines(text)[: self.room] for text in (removed, added))
        self.room -= max(len(left), len(right))
        left_offsets, right_offsets = _offsets(left), _offsets(right)
        left_done = right_done = 0
        for row, column in match_lines(left, right):
            yield from _edit_segments(
                removed[left_done : left_offsets[row]], added[right_done : right_offsets[column]]
            )
            yield _edit_segment(
                left[row], right[column], _refine_pair(left[row], right[column], self.mode)
            )
            left_done, right_done = left_offsets[row + 1], right_offsets[column + 1]
        yield from _edit_segments(removed[left_done:], added[right_done:])


def _whole_lines(text: str) -> list[str]:
    """The lines of a text that are in sight."""
    lines = _LINE.findall(text[:MAX_CHANGED])
    return lines if len(text) <= MAX_CHANGED else lines[:-1]


def _refine_pair(removed: str, added: str, mode: Mode) -> tuple[Segment, ...]:
    """The pair in smaller tokens; nothing where that has too little in common, or is too long.

    What both begin and end with does not count: in a token of any length one letter is found.
    """
    finer = _FINER.get(mode)
    longest = max(len(removed), len(added))
    if finer is None or not _may_be_alike(removed, added):
        return ()
    if longest - sum(_common_ends(removed, added)) > _MAX_FINER[finer]:
        return ()
    parts = tuple(_segments(_tokens(removed, finer), _tokens(added, finer), "char"))
    return parts if _count_equal(parts) >= _ALIKE * longest else ()


def _count_equal(segments: Iterable[Segment]) -> int:
    """Characters that both sides have, at the finest."""
    return sum(
        _count_equal(segment.parts)
        if segment.parts
        else len(segment.left) * (segment.op == "equal")
        for segment in segments
    )


def _may_be_alike(removed: str, added: str) -> bool:
    """False where no finer diff can have enough in common; takes a tenth of the time of one."""
    shortest, longest = sorted((len(removed), len(added)))
    if shortest < _ALIKE * longest:
        return False
    if longest > _MAX_FINER["char"]:
        return True
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(removed, added) >= _ALIKE * longest


class LabelledText(NamedTuple):
    """A stretch of text; `label` names the one invisible character it is, else None."""

    text: str
    label: str | None


_SUSPECT: Final = re.compile(r"[^\t\n\x20-\x7e]")
# Printable by Unicode's categories, yet nothing shows: joiners, fillers, variation selectors.
_BLANK: Final = frozenset(
    [
        *("\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0"),
        *map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),
    ]
)
_BLANKS: Final = re.compile(f"[{''.join(sorted(_BLANK))}]")
_PLAIN: Final = str.maketrans("\t\n", "  ")
_EMOJI_JOINTS: Final = frozenset("\u200d\ufe0e\ufe0f")
_CONTROLS: Final = {
    0x00: "null",
    0x07: "bell",
    0x08: "backspace",
    0x0B: "vertical tab",
    0x0C: "form feed",
    0x0D: "carriage return",
    0x1B: "escape",
    0x7F: "delete",
    0x85: "next line",
}
_KINDS: Final = {"Cc": "control", "Co": "private use", "Cs": "half a character"}


def mark_invisible(text: str) -> list[LabelledText]:
    """The text in pieces, every invisible, control, bidi or odd space character on its own.

    Tab, line feed and space stay in the text, and so do the joiners inside an emoji.
    """
    if text and _is_all_visible(text):
        return [LabelledText(text, None)]
    pieces: list[LabelledText] = []
    done = 0
    for match in _SUSPECT.finditer(text):
        index = match.start()
        if not _is_invisible(text, index):
            continue
        if done < index:
            pieces.append(LabelledText(text[done:index], None))
        pieces.append(_label(text[index]))
        done = index + 1
    if done < len(text):
        pieces.append(LabelledText(text[done:], None))
    return pieces


def _is_all_visible(text: str) -> bool:
    """Decides most texts without looking at each character; False where that is needed."""
    if text.isascii():
        return not _SUSPECT.search(text)
    is_printable = text.translate(_PLAIN).isprintable()
    return is_printable and not _BLANKS.search(text)


def _is_invisible(text: str, index: int) -> bool:
    char, before = text[index], text[max(0, index - 2) : index]
    if char.isprintable() and char not in _BLANK:
        return False
    is_after_symbol = unicodedata.category(before[-1:] or "a") in {"So", "Sk"}
    is_after_joint = before[1:] in _EMOJI_JOINTS and before[0] not in _EMOJI_JOINTS
    return not (char in _EMOJI_JOINTS and (is_after_symbol or is_after_joint))


@lru_cache(maxsize=1024)  # a text has few kinds and may have thousands of each
def _label(char: str) -> LabelledText:
    code = ord(char)
    unnamed = _KINDS.get(unicodedata.category(char), "unassigned")
    name = _CONTROLS.get(code) or unicodedata.name(char, unnamed).lower()
    return LabelledText(char, f"U+{code:04X} {name}")
