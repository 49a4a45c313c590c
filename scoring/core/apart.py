"""Where two openings of texts part, for a row that has room for a few words of each."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

LEAD: Final = 16  # characters kept before the first difference
CUT: Final = "…"
_LAST_WORD: Final = re.compile(r"\w*$")


class Part(NamedTuple):
    """A text as far as it is shown: what both have, what only this one has, what both have."""

    start: str
    own: str = ""
    end: str = ""


def apart(before: str, after: str, *, whole: int, room: int) -> tuple[Part, Part]:
    """At most `room` characters of both texts, from shortly before where they differ.

    Words stay whole. A text of `whole` characters may go on, so that its end says nothing.
    """
    if before == after:
        return Part(before[:room]), Part(after[:room])
    start = _start(before, after)
    rests = before[start:], after[start:]
    end = 0 if max(len(before), len(after)) >= whole else _end(*rests)
    lead = before[:start] if start <= 2 * LEAD else CUT + before[start - LEAD : start]
    first, second = (_cut(lead, rest, len(rest) - end, room) for rest in rests)
    return first, second


def _cut(lead: str, rest: str, own: int, room: int) -> Part:
    """A part whose own words are the first `own` characters of the rest."""
    left = max(0, room - len(lead))
    return Part(lead, rest[: min(own, left)], rest[own : max(own, left)])


def _start(before: str, after: str) -> int:
    """The length of what both begin with, up to the beginning of a word."""
    same = _same(before, after)
    is_inside = any(map(_is_letter, (before[same : same + 1], after[same : same + 1])))
    found = _LAST_WORD.search(before[:same]) if is_inside else None
    return found.start() if found else same


def _end(before: str, after: str) -> int:
    """The length of what both end with, from the end of a word on."""
    return _start(before[::-1], after[::-1])


def _same(one: str, other: str) -> int:
    """How many characters at the start of both are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _is_letter(text: str) -> bool:
    return text.isalnum() or text == "_"
