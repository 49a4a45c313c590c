"""The first difference of two texts, for a row with room for a few words of each."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scoring.core.textdiff.diff import common_start

CONTEXT_CHARS: Final = 16  # characters kept before the first difference
ELLIPSIS: Final = "…"
_LAST_WORD: Final = re.compile(r"\w*$")


class DifferenceExcerpt(NamedTuple):
    """A part of a text: what both texts have, what only this one has, what both have again."""

    start: str
    own: str = ""
    end: str = ""


def first_difference(
    before: str, after: str, *, whole: int, room: int
) -> tuple[DifferenceExcerpt, DifferenceExcerpt]:
    """At most `room` characters of both texts, from shortly before where they differ.

    Words stay whole. A text of `whole` characters may go on, so that its end says nothing.
    """
    if before == after:
        return DifferenceExcerpt(before[:room]), DifferenceExcerpt(after[:room])
    start = _start(before, after)
    rests = before[start:], after[start:]
    may_go_on = max(len(before), len(after)) >= whole
    end = 0 if may_go_on else _start(*(rest[::-1] for rest in rests))
    lead = (
        before[:start]
        if start <= 2 * CONTEXT_CHARS
        else ELLIPSIS + before[start - CONTEXT_CHARS : start]
    )
    first, second = (_cut(lead, rest, len(rest) - end, room) for rest in rests)
    return first, second


def _cut(lead: str, rest: str, own: int, room: int) -> DifferenceExcerpt:
    """The excerpt whose own words are the first `own` characters of the rest."""
    left = max(0, room - len(lead))
    return DifferenceExcerpt(lead, rest[: min(own, left)], rest[own : max(own, left)])


def _start(before: str, after: str) -> int:
    """The length of what both begin with, up to the beginning of a word."""
    same = common_start(before, after)
    following = before[same : same + 1], after[same : same + 1]
    is_inside = any(char.isalnum() or char == "_" for char in following)
    word = _LAST_WORD.search(before[:same]) if is_inside else None
    return word.start() if word else same
