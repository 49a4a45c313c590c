"""Lists in pages: {"next": url or null, "previous": url or null, "results": […]}."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from evalsite.api.errors import field_problem
from evalsite.api.fields import BodySerializer, TextField
from scoring.models.case_paging import CasePosition

MAX_ROWS = 1_000
_PLACE: Final = re.compile(r"(after|before)-(\d{1,9})\.(\d{1,5})", re.ASCII)


class PositionedRow(Protocol):
    """A row of a list that is walked by places in a dataset."""

    @property
    def place(self) -> CasePosition: ...


class PositionedPage(Protocol):
    @property
    def rows(self) -> Sequence[PositionedRow]: ...
    @property
    def has_previous(self) -> bool: ...
    @property
    def has_next(self) -> bool: ...


def invalid_cursor() -> Exception:
    text = "This cursor is not one of ours. Take the next and previous addresses as they are."
    return field_problem(400, "cursor", "bad_cursor", text)


class PageQuery(BodySerializer):
    """What the address of a list may ask; the list is walked by creation."""

    team = TextField(required=False)
    cursor = TextField(required=False)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ROWS)


class PlacesQuery(BodySerializer):
    """What the address of a list that is walked by places in a dataset may ask."""

    cursor = TextField(
        required=False, help_text="Where the page begins, as given in `next` and `previous`."
    )
    page_size = serializers.IntegerField(default=50, min_value=1, max_value=MAX_ROWS)


class PageShape(serializers.Serializer[object]):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class NewestFirst(CursorPagination):
    """By creation, the newest first; a page stays what it was when rows are added.

    `query` is what the address may ask, and nothing else.
    """

    query: type[PageQuery] = PageQuery

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = MAX_ROWS
    cursor_query_description = "Where the page begins, as given in `next` and `previous`."
    page_size_query_description = "How many rows a page holds, at most 1,000. Defaults to 50."

    def paginate_queryset(
        self,
        queryset: QuerySet[Any] | Sequence[Any],
        request: Request,
        view: APIView | None = None,
    ) -> list[Any] | None:
        self.query(data=request.query_params).is_valid(raise_exception=True)
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError):  # ValueError: it decodes, but to no id
            raise invalid_cursor() from None


def parse_cursor(cursor: str | None) -> dict[str, CasePosition]:
    """Where a page of placed rows begins: `after` or `before`, or neither. Raises a problem."""
    if cursor is None:
        return {}
    match = _PLACE.fullmatch(cursor)
    if match is None:
        raise invalid_cursor()
    side, position, trial = match.groups()
    return {side: CasePosition(int(position), int(trial))}


def page_body(
    request: Request, page: PositionedPage, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """The rows as they are shown, with the addresses of the pages around them."""
    rows = page.rows
    following = _address(request, "after", rows[-1].place) if page.has_next and rows else None
    before = _address(request, "before", rows[0].place) if page.has_previous and rows else None
    return {"next": following, "previous": before, "results": results}


def _address(request: Request, side: str, place: CasePosition) -> str:
    cursor = f"{side}-{place.position}.{place.trial}"
    return replace_query_param(request.build_absolute_uri(), "cursor", cursor)
