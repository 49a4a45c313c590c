"""How many rows of a case's tables of JSON paths are drawn: few at first, the rest on request."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.http import QueryDict

FIRST: Final = 50  # rows that a page draws by itself
TIMES: Final = 10  # as many more with each request
DIFFERING: Final = "rows"  # in addresses: how many of those that differ, and of leaf tables
ALIKE: Final = "same"  # how many of those that hold the same


class Room(NamedTuple):
    """How many rows a page may draw. `alike` is None where those get what the others leave."""

    differing: int = FIRST
    alike: int | None = None


class More(NamedTuple):
    """A link to so many rows of a table that has more than are drawn."""

    rows: int
    url: str


def room(query: QueryDict) -> Room:
    """What the address asks for, else what is usual."""
    return Room(_asked(query, DIFFERING) or FIRST, _asked(query, ALIKE))


def more(query: QueryDict, name: str, drawn: int, total: int) -> More | None:
    """The way to more rows where only so many are drawn; None where all of them are."""
    if drawn >= total:
        return None
    count = min(total, max(drawn, FIRST) * TIMES)
    changed = query.copy()
    changed[name] = str(count)
    return More(count, f"?{changed.urlencode()}")


def _asked(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 7
    return max(FIRST, int(text)) if is_number else None
