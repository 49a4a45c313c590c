"""Comparison of two texts, in one text or side by side, with long unchanged parts folded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from scoring.core.textdiff.diff import Diff, Mode, diff
from scoring.core.textdiff.folding import MIN_FOLDED_LINES, amount_text, fold_text
from scoring.core.textdiff.text_layout import (
    SHOWN_CHARS,
    Block,
    Tag,
    TextLayout,
    layout_text,
    mark_spans,
    tag_segments,
)

FOLDED: Final = 60_000  # characters that a page holds folded; of more it only says how many

LONG_LINE: Final = 200  # characters; a text in shorter ones is folded by them
CharRange = tuple[int, int]  # from and to, in characters


class Fragment(NamedTuple):
    """Text of one kind. `with_ends` names its line feeds too; `name` says what found a match.

    A fragment that `is_kept` is never folded.
    """

    tag: Tag
    text: str
    with_ends: bool = False
    is_folded: bool = False
    name: str = ""
    is_kept: bool = False


@dataclass(frozen=True)
class TextComparison:
    """How `second` differs from `first`. Each view folds and cuts the same blocks."""

    first: str
    second: str
    mode: Mode

    @property
    def both(self) -> TextLayout:
        """One text that holds both, with what is missing and what is new marked."""
        return self._layout("")

    @property
    def before(self) -> TextLayout:
        """The first text, with what the second one has not marked."""
        return self._layout("ins")

    @property
    def after(self) -> TextLayout:
        """The second text, with what the first one has not marked."""
        return self._layout("del")

    @property
    def first_hidden(self) -> int:
        """Characters of the first text's end that are left out; `both` counts the second's."""
        return self._hidden(self.first, "ins")

    @cached_property
    def changes(self) -> Diff:
        return diff(self.first, self.second, self.mode)

    @cached_property
    def _blocks(self) -> list[Block]:
        fragments = (Fragment(*fragment) for fragment in tag_segments(self.changes.segments))
        return list(build_blocks(fold_fragments(fragments), "unchanged"))

    def _layout(self, left_out: Tag) -> TextLayout:
        """The blocks without one tag. The hidden end is counted in the text that is left."""
        hidden = self.first_hidden if left_out == "ins" else self._hidden(self.second, "del")
        blocks = self._blocks
        if left_out:
            blocks = list(_one_side(blocks, left_out, is_level=self.mode == "line"))
        return TextLayout(blocks, hidden, self.changes.start)

    def _hidden(self, text: str, other: Tag) -> int:
        own = (block for block in self._blocks if block.tag != other)
        return len(text) - self.changes.start - sum(map(block_length, own))


def compare_third_text(text: str, pair: TextComparison) -> TextLayout:
    """A third text, folded where all three say the same for long. It bears no marks."""
    is_in_lines = text.count("\n") * LONG_LINE >= len(text)  # a line diff takes a fifth of the time
    third = diff(text, pair.second, "line" if is_in_lines else pair.mode)
    if third.start or pair.changes.start:  # the two diffs may begin far apart
        return layout_text(text)
    parts = _split_third_text(third, pair.changes)
    fragments = (Fragment("", part, is_kept=is_kept) for part, is_kept in parts if part or is_kept)
    blocks = list(build_blocks(fold_fragments(fragments), "unchanged"))
    return TextLayout(blocks, len(text) - sum(map(block_length, blocks)))


def _split_third_text(third: Diff, pair: Diff) -> Iterator[tuple[str, bool]]:
    """The third text in parts, and whether it or the first one differs there from the second.

    As far as the first two are compared.
    """
    changes: list[CharRange] = []  # where the second text differs from the first
    end = 0
    for segment in pair.segments:
        if segment.op != "equal":
            changes.append((end, end + len(segment.right)))
        end += len(segment.right)
    offset = 0
    for segment in third.segments:
        if pair.right_rest and offset >= end:
            return
        if segment.op == "equal":
            compared = segment.left[: end - offset] if pair.right_rest else segment.left
            yield from _cut_at_changes(compared, offset, changes)
        else:
            yield segment.left, True
        offset += len(segment.right)


def _cut_at_changes(
    text: str, offset: int, changes: Sequence[CharRange]
) -> Iterator[tuple[str, bool]]:
    """A part of the second text, cut where changes begin and end; a deletion is an empty part."""
    done, end = 0, offset + len(text)
    for start, stop in islice(changes, bisect_left(changes, offset, key=itemgetter(1)), None):
        if start > end:
            break
        begin, until = max(start - offset, done), min(stop - offset, len(text))
        yield text[done:begin], False
        yield text[begin:until], True
        done = until
    yield text[done:], False


def mark_differences(first: str, second: str, mode: Mode) -> TextLayout:
    """One text that holds both, with nothing folded."""
    changes = diff(first, second, mode)
    fragments = (Fragment(*fragment) for fragment in tag_segments(changes.segments))
    blocks = list(build_blocks(fragments, ""))
    shown = sum(block_length(block) for block in blocks if block.tag != "del")
    return TextLayout(blocks, len(second) - changes.start - shown, changes.start)


def fold_fragments(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """The fragments, long unmarked ones with their middles folded; a single one stays whole."""
    listed = list(fragments)
    last = len(listed) - 1
    for place, fragment in enumerate(listed):
        if fragment.tag or fragment.is_kept or not last or len(fragment.text) < MIN_FOLDED_LINES:
            yield fragment
            continue
        ends = fold_text(fragment.text, keeps_start=place > 0, keeps_end=place < last)
        for part, text in enumerate(ends):
            if text:
                yield fragment._replace(text=text, is_folded=part == 1)


def build_blocks(fragments: Iterable[Fragment], what: str) -> Iterator[Block]:
    """As much of either text as a page shows, with invisible characters marked.

    `what` is the adjective for folded text, such as "unchanged". Hidden text is at the end.
    """
    left = right = SHOWN_CHARS
    folded_room = FOLDED
    for fragment in fragments:
        if fragment.tag != "ins" and not (left and right):
            return
        if fragment.is_folded:
            label, length = amount_text(fragment.text, what), len(fragment.text)
            if length <= folded_room:
                folded_room -= length
                yield Block("", mark_spans(fragment.text), folded=label)
            else:
                yield Block("", [], length, label)
            continue
        room = {"del": left, "ins": right}.get(fragment.tag, min(left, right))
        cut = fragment.text[:room]
        yield Block(fragment.tag, mark_spans(cut, with_ends=fragment.with_ends), name=fragment.name)
        left -= 0 if fragment.tag == "ins" else len(cut)
        right -= 0 if fragment.tag == "del" else len(cut)
        if fragment.tag not in ("del", "ins") and len(cut) < len(fragment.text):
            return


def _one_side(blocks: Iterable[Block], left_out: Tag, is_level: bool) -> Iterator[Block]:
    """The blocks of one text. With `is_level`, empty lines stand for the lines that the other text
    has more before the next line that is in both.
    """
    more, is_at_start = 0, True
    for block in blocks:
        line_count = block.text.count("\n")
        if block.tag == left_out:
            more += line_count
            continue
        is_gap = is_level and is_at_start and not block.tag and more > 0
        yield block._replace(empty_lines=more) if is_gap else block
        if block.tag:
            more -= line_count
        elif is_at_start:
            more = 0
        is_at_start = block.text.endswith("\n")


def block_length(block: Block) -> int:
    """Characters of the text that a block stands for."""
    return block.skipped + len(block.text)
