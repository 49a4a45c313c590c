"""Folding of long unchanged texts."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

CONTEXT: Final = 240  # characters kept at most beside what differs
LINES: Final = 3  # or so many lines, the shorter of both
MIN_FOLDED: Final = 300  # characters that a fold hides at least, or
MIN_FOLDED_LINES: Final = 6

_END: Final = re.compile("\n")


def fold_text(text: str, *, keeps_start: bool, keeps_end: bool) -> tuple[str, str, str]:
    """The text in three parts: visible, folded, visible.

    Joined they are the text. `keeps_start` and `keeps_end` say on which sides a difference is,
    beside which some text stays visible. Where a fold would save little, the first part is all.
    """
    if not _is_worth_it(text):
        return text, "", ""
    start = _start(text) if keeps_start else 0
    end = _end(text) if keeps_end else len(text)
    if not _is_worth_it(text[start:end]):
        return text, "", ""
    return text[:start], text[start:end], text[end:]


def amount_text(text: str, what: str) -> str:
    """As in "37 unchanged lines", or of a text in few lines "1,240 unchanged characters"."""
    lines = text.count("\n")
    return f"{lines:,} {what} lines" if lines >= LINES else f"{len(text):,} {what} characters"


def _is_worth_it(folded: str) -> bool:
    return len(folded) >= MIN_FOLDED or folded.count("\n") >= MIN_FOLDED_LINES


def _start(text: str) -> int:
    """Where the visible start ends: after a line, else after a space."""
    near = text[:CONTEXT]
    ends = [match.end() for match in islice(_END.finditer(near), LINES)]
    if len(ends) == LINES or (ends and ends[-1] > CONTEXT // 2):
        return ends[-1]
    return near.rfind(" ") + 1 or len(near)


def _end(text: str) -> int:
    """Where the visible end begins: at a line, else at a word."""
    start = max(0, len(text) - CONTEXT)
    begins = [match.end() for match in _END.finditer(text, start, len(text) - 1)][-LINES:]
    if len(begins) == LINES or (begins and begins[0] < len(text) - CONTEXT // 2):
        return begins[0]
    return (text.find(" ", start, len(text) - 1) + 1) or start
