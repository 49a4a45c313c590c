"""Where a long stretch that says nothing new may be folded away."""

from __future__ import annotations

from itertools import islice
from re import compile as compiled
from typing import Final

CONTEXT: Final = 240  # characters kept at most beside what differs
LINES: Final = 3  # or so many lines, the shorter of both
LEAST: Final = 300  # characters that a fold hides at least, or
LEAST_LINES: Final = 6

_END: Final = compiled("\n")


def fold(text: str, *, keeps_start: bool, keeps_end: bool) -> tuple[str, str, str]:
    """The text in three: what stays in sight, what is folded, what stays again.

    Joined they are the text. A start or an end that borders on nothing is not kept; where a
    fold would save little, all of the text is in the first part.
    """
    if not _is_worth_it(text):
        return text, "", ""
    start = _start(text) if keeps_start else 0
    end = _end(text) if keeps_end else len(text)
    if not _is_worth_it(text[start:end]):
        return text, "", ""
    return text[:start], text[start:end], text[end:]


def amount(text: str, what: str) -> str:
    """As in "37 unchanged lines", or of a text in few lines "1,240 unchanged characters"."""
    lines = text.count("\n")
    return f"{lines:,} {what} lines" if lines >= LINES else f"{len(text):,} {what} characters"


def _is_worth_it(folded: str) -> bool:
    return len(folded) >= LEAST or folded.count("\n") >= LEAST_LINES


def _start(text: str) -> int:
    """Where the start that stays ends: after a line, else after a space."""
    near = text[:CONTEXT]
    ends = [found.end() for found in islice(_END.finditer(near), LINES)]
    if len(ends) == LINES or (ends and ends[-1] > CONTEXT // 2):
        return ends[-1]
    return near.rfind(" ") + 1 or len(near)


def _end(text: str) -> int:
    """Where the end that stays begins: at a line, else at a word."""
    at = max(0, len(text) - CONTEXT)
    begins = [found.end() for found in _END.finditer(text, at, len(text) - 1)][-LINES:]
    if len(begins) == LINES or (begins and begins[0] < len(text) - CONTEXT // 2):
        return begins[0]
    return (text.find(" ", at, len(text) - 1) + 1) or at
