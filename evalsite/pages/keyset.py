"""Long lists a page at a time, found by key: page 1,000 costs what page 1 costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import models
from django.http import QueryDict

SIZE = 50

Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Row]):
    """Rows, and the query strings that lead to the pages around them (None = there is none)."""

    rows: list[Row]
    previous: str | None
    next: str | None


def keyset_page(
    rows: models.QuerySet[Row], order: str, query: QueryDict, size: int = SIZE
) -> KeysetPage[Row]:
    """The page that `after` or `before` in the query asks for.

    `order` is a unique field of whole numbers, "-id" for newest first. A cursor that is no number
    is left unheeded. The links keep the rest of the query.
    """
    field, is_falling = order.removeprefix("-"), order.startswith("-")
    before, after = _cursor(query, "before"), _cursor(query, "after")
    is_backwards = before is not None
    cursor = before if is_backwards else after
    if cursor is not None:
        beyond = "lt" if is_falling != is_backwards else "gt"
        rows = rows.filter(**{f"{field}__{beyond}": cursor})
    found = list(rows.order_by(f"-{field}" if is_falling != is_backwards else field)[: size + 1])
    has_more, found = len(found) > size, found[:size]
    if not found:
        return KeysetPage([], None, None)
    if is_backwards:
        found.reverse()
    has_previous = has_more if is_backwards else after is not None
    has_next = is_backwards or has_more
    return KeysetPage(
        found,
        _link(query, "before", getattr(found[0], field)) if has_previous else None,
        _link(query, "after", getattr(found[-1], field)) if has_next else None,
    )


def _cursor(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else None


def _link(query: QueryDict, name: str, cursor: int) -> str:
    changed = query.copy()
    for key in ("after", "before"):
        changed.pop(key, None)
    changed[name] = str(cursor)
    return f"?{changed.urlencode()}"
