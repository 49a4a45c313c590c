"""Row limits of the JSON path tables: few rows at first, more on request."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.http import QueryDict

INITIAL_ROWS: Final = 50  # rows that a page draws by itself
GROWTH: Final = 10  # as many with each request
CHANGED_PARAM: Final = "rows"  # in addresses: how many that differ, and how many of leaf tables
UNCHANGED_PARAM: Final = "same"  # in addresses: how many that do not differ


class RowLimits(NamedTuple):
    """How many rows a page may draw. `alike` is None where those get what the others leave."""

    differing: int = INITIAL_ROWS
    alike: int | None = None


class MoreRows(NamedTuple):
    """A link to so many rows of a table that has more than are drawn."""

    rows: int
    url: str


def get_row_limits(query: QueryDict) -> RowLimits:
    """The limits in the address, else the default ones."""
    return RowLimits(
        _parse_limit(query, CHANGED_PARAM) or INITIAL_ROWS, _parse_limit(query, UNCHANGED_PARAM)
    )


def link_more_rows(query: QueryDict, name: str, drawn: int, total: int) -> MoreRows | None:
    """The link to more rows; None if all of them are drawn."""
    if drawn >= total:
        return None
    count = min(total, max(drawn, INITIAL_ROWS) * GROWTH)
    changed = query.copy()
    changed[name] = str(count)
    return MoreRows(count, f"?{changed.urlencode()}")


def _parse_limit(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 7
    return max(INITIAL_ROWS, int(text)) if is_number else None
