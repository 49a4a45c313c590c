"""Two texts compared, in one or each by itself, folded where they say the same for long."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

from scoring.core.diff import Diff, Mode, diff
from scoring.core.folds import LEAST_LINES, amount, fold
from scoring.core.shown import LONG, Shown, Stretch, Tag, marked, shown, tagged

FOLDED: Final = 60_000  # characters that a page holds folded; of more it only says how many

LONG_LINE: Final = 200  # characters; a text in shorter ones is folded by them
Place = tuple[int, int]  # from and to, in characters


class Span(NamedTuple):
    """Text of one kind. `with_ends` names its line feeds too; `name` says what found a match.

    What `is_kept` stays in sight, whether it bears a mark or not.
    """

    tag: Tag
    text: str
    with_ends: bool = False
    is_folded: bool = False
    name: str = ""
    is_kept: bool = False


@dataclass(frozen=True)
class Sides:
    """How `second` differs from `first`. Each view folds and cuts the same stretches."""

    first: str
    second: str
    mode: Mode

    @property
    def both(self) -> Shown:
        """One text that holds both, with what is missing and what is new marked."""
        return self._seen("")

    @property
    def before(self) -> Shown:
        """The first text, with what the second one has not marked."""
        return self._seen("ins")

    @property
    def after(self) -> Shown:
        """The second text, with what the first one has not marked."""
        return self._seen("del")

    @property
    def first_hidden(self) -> int:
        """Characters of the first text's end that are left out; `both` counts the second's."""
        return self._hidden(self.first, "ins")

    @cached_property
    def changes(self) -> Diff:
        return diff(self.first, self.second, self.mode)

    @cached_property
    def _stretches(self) -> list[Stretch]:
        spans = (Span(*span) for span in tagged(self.changes.segments))
        return list(stretches(folded(spans), "unchanged"))

    def _seen(self, left_out: Tag) -> Shown:
        """Without one tag. The end that is hidden is counted in the text that is left."""
        start = self.changes.start
        is_first = left_out == "ins"
        hidden = self.first_hidden if is_first else self._hidden(self.second, "del")
        if not left_out:
            return Shown(self._stretches, hidden, start)
        is_level = self.mode == "line"
        return Shown(list(_one_side(self._stretches, left_out, is_level)), hidden, start)

    def _hidden(self, text: str, other: Tag) -> int:
        own = (each for each in self._stretches if each.tag != other)
        return len(text) - self.changes.start - sum(map(length, own))


def beside(text: str, pair: Sides) -> Shown:
    """A third text, folded where all three say the same for long. It bears no marks."""
    is_in_lines = text.count("\n") * LONG_LINE >= len(text)  # told apart in a fifth of the time
    found = diff(text, pair.second, "line" if is_in_lines else pair.mode)
    if found.start or pair.changes.start:  # begun at places that may be far apart
        return shown(text)
    parts = _parts_beside(found, pair.changes)
    spans = (Span("", part, is_kept=is_kept) for part, is_kept in parts if part or is_kept)
    seen = list(stretches(folded(spans), "unchanged"))
    return Shown(seen, len(text) - sum(map(length, seen)))


def _parts_beside(found: Diff, pair: Diff) -> Iterator[tuple[str, bool]]:
    """The third text in parts, and whether it or the first one differs there from the second.

    As far as these two are compared.
    """
    changes = list(_changes(pair))
    at, end = 0, sum(len(segment.right) for segment in pair.segments)
    for segment in found.segments:
        if pair.right_rest and at >= end:
            return
        if segment.op == "equal":
            compared = segment.left[: end - at] if pair.right_rest else segment.left
            yield from _cut_at(compared, at, changes)
        else:
            yield segment.left, True
        at += len(segment.right)


def _changes(found: Diff) -> Iterator[Place]:
    """Where the second text differs from the first."""
    at = 0
    for segment in found.segments:
        if segment.op != "equal":
            yield at, at + len(segment.right)
        at += len(segment.right)


def _cut_at(text: str, at: int, changes: Sequence[Place]) -> Iterator[tuple[str, bool]]:
    """A text that begins at a place of the second one, cut where the changes of that begin and end.

    A change that left nothing there is an empty part.
    """
    done, end = 0, at + len(text)
    for number in range(bisect_left(changes, at, key=itemgetter(1)), len(changes)):
        start, stop = changes[number]
        if start > end:
            break
        begin, until = max(start - at, done), min(stop - at, len(text))
        yield text[done:begin], False
        yield text[begin:until], True
        done = until
    yield text[done:], False


def compared(first: str, second: str, mode: Mode) -> Shown:
    """One text that holds both, with nothing folded."""
    found = diff(first, second, mode)
    seen = list(stretches((Span(*span) for span in tagged(found.segments)), ""))
    shown = sum(length(each) for each in seen if each.tag != "del")
    return Shown(seen, len(second) - found.start - shown, found.start)


def folded(spans: Iterable[Span]) -> Iterator[Span]:
    """With the middles of long stretches that bear no mark folded; a text by itself stays whole."""
    listed = list(spans)
    last = len(listed) - 1
    for place, span in enumerate(listed):
        if span.tag or span.is_kept or not last or len(span.text) < LEAST_LINES:
            yield span
            continue
        ends = fold(span.text, keeps_start=place > 0, keeps_end=place < last)
        for part, text in enumerate(ends):
            if text:
                yield span._replace(text=text, is_folded=part == 1)


def stretches(spans: Iterable[Span], what: str) -> Iterator[Stretch]:
    """As much of either text as a page shows, with what cannot be seen marked.

    `what` says what is folded. What is hidden of a text is one stretch at its end.
    """
    left = right = LONG
    folded_room = FOLDED
    for span in spans:
        if span.tag != "ins" and not (left and right):
            return
        if span.is_folded:
            is_kept = len(span.text) <= folded_room
            folded_room -= len(span.text) if is_kept else 0
            yield _fold(span.text, amount(span.text, what), is_kept)
            continue
        room = left if span.tag == "del" else right if span.tag == "ins" else min(left, right)
        cut = span.text[:room]
        yield Stretch(span.tag, marked(cut, with_ends=span.with_ends), name=span.name)
        left -= 0 if span.tag == "ins" else len(cut)
        right -= 0 if span.tag == "del" else len(cut)
        if span.tag not in ("del", "ins") and len(cut) < len(span.text):
            return


def _one_side(seen: Iterable[Stretch], left_out: Tag, is_level: bool) -> Iterator[Stretch]:
    """The stretches of one text. Where it `is_level` with the other one, empty lines stand for
    those that the other has more before the next that is in both.
    """
    more, at_start = 0, True
    for each in seen:
        line_count = each.text.count("\n")
        if each.tag == left_out:
            more += line_count
            continue
        is_gap = is_level and at_start and not each.tag and more > 0
        yield each._replace(empty_lines=more) if is_gap else each
        if each.tag:
            more -= line_count
        elif at_start:
            more = 0
        at_start = each.text.endswith("\n")


def length(stretch: Stretch) -> int:
    """Characters of the text that a stretch stands for."""
    return stretch.skipped + len(stretch.text)


def _fold(text: str, label: str, is_kept: bool) -> Stretch:
    return Stretch("", marked(text) if is_kept else [], 0 if is_kept else len(text), label)
