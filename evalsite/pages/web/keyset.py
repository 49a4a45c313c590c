"""Pagination by key: page 1,000 of a long list costs as much as page 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import models
from django.http import QueryDict

from evalsite.pages.web.fields import whole_number

PAGE_SIZE = 50

Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[Row]):
    """Rows, and the query strings of the pages before and after, None without one."""

    rows: list[Row]
    previous: str | None
    next: str | None


def keyset_page(
    rows: models.QuerySet[Row], order: str, query: QueryDict, size: int = PAGE_SIZE
) -> KeysetPage[Row]:
    """The page that `after` or `before` in the query asks for.

    `order` is a unique field of whole numbers, "-id" for newest first. A cursor that is not a
    number is ignored. The links keep the rest of the query.
    """
    field, is_falling = order.removeprefix("-"), order.startswith("-")
    before, after = (whole_number(query.get(name, ""), 18) for name in ("before", "after"))
    is_backwards = before is not None
    cursor = before if is_backwards else after
    if cursor is not None:
        beyond = "lt" if is_falling != is_backwards else "gt"
        rows = rows.filter(**{f"{field}__{beyond}": cursor})
    ordered = rows.order_by(f"-{field}" if is_falling != is_backwards else field)
    page = list(ordered[: size + 1])
    has_more, page = len(page) > size, page[:size]
    if not page:
        return KeysetPage([], None, None)
    if is_backwards:
        page.reverse()
    has_previous = has_more if is_backwards else after is not None
    has_next = is_backwards or has_more
    return KeysetPage(
        page,
        _link(query, "before", getattr(page[0], field)) if has_previous else None,
        _link(query, "after", getattr(page[-1], field)) if has_next else None,
    )


def _link(query: QueryDict, name: str, cursor: int) -> str:
    changed = query.copy()
    for key in ("after", "before"):
        changed.pop(key, None)
    changed[name] = str(cursor)
    return f"?{changed.urlencode()}"
