"""Where a page of a list begins, and the addresses of the pages around it."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from evalsite.api.errors import Problem
from evalsite.api.pagination import MAX_ROWS, PageQuery, PlacesQuery, page_body, parse_cursor
from scoring.models.case_paging import CasePosition
from scoring.models.runs.missing_outputs import MissingCase, MissingPage


@pytest.mark.parametrize(
    ("cursor", "place"),
    [
        (None, {}),
        ("after-3.0", {"after": CasePosition(3)}),
        ("before-12.2", {"before": CasePosition(12, 2)}),
    ],
)
def test_a_cursor_names_a_side_and_a_place(cursor: str | None, place: Any) -> None:
    assert parse_cursor(cursor) == place


@pytest.mark.parametrize("cursor", ["", "3.0", "after-3", "after-3.0 ", "after-٣.0", "after-1.x"])
def test_another_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_cursor(cursor)
    assert (refused.value.status_code, refused.value.code) == (400, "bad_cursor")


ROWS = [MissingCase(3, "c"), MissingCase(7, "g")]


@pytest.mark.parametrize(
    ("page", "following", "previous"),
    [
        (MissingPage(ROWS, False, False), None, None),
        (MissingPage(ROWS, False, True), "after-7.0", None),
        (MissingPage(ROWS, True, False), None, "before-3.0"),
        (MissingPage([], True, True), None, None),
    ],
)
def test_the_addresses_of_the_pages_around_keep_the_query(
    page: MissingPage, following: str | None, previous: str | None
) -> None:
    request = Request(APIRequestFactory().get("/list/?tag=a&cursor=after-1.0"))

    def address(cursor: str | None) -> str | None:
        return f"http://testserver/list/?cursor={cursor}&tag=a" if cursor else None

    body = page_body(request, page, [{"key": "c"}])
    assert body == {
        "next": address(following),
        "previous": address(previous),
        "results": [{"key": "c"}],
    }


@pytest.mark.parametrize("query", [PageQuery, PlacesQuery])
@pytest.mark.parametrize(
    ("size", "is_valid"), [("0", False), ("1", True), (MAX_ROWS, True), (MAX_ROWS + 1, False)]
)
def test_a_page_has_one_to_a_thousand_rows(query: Any, size: Any, is_valid: bool) -> None:
    assert query(data={"page_size": size}).is_valid() == is_valid
