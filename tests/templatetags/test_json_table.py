"""How much of what a leaf was compared with stands beside its credit, and the way to more rows."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from evalsite.pages.cases.texts.json_leaves import Credit
from evalsite.pages.cases.texts.json_paths import PathTableRow
from evalsite.templatetags.json_table import MAX_REFERENCE_CHARS, more_rows, path_rows


@pytest.mark.parametrize(
    ("length", "shown"),
    [(MAX_REFERENCE_CHARS, "x" * MAX_REFERENCE_CHARS), (MAX_REFERENCE_CHARS + 1, "…")],
)
def test_what_a_leaf_was_compared_with_is_cut(length: int, shown: str) -> None:
    row = PathTableRow("a", [], [], [Credit("s", 0.5, reference="x" * length)])
    html = path_rows({}, [row])
    assert html.count("x") == min(length, MAX_REFERENCE_CHARS - (length > MAX_REFERENCE_CHARS))
    assert shown in html


@pytest.mark.parametrize(
    ("drawn", "total", "url"),
    [(50, 50, None), (50, 700, "?q=a&rows=500"), (50, 60, "?q=a&rows=60")],
)
def test_a_link_leads_to_more_rows_where_there_are_any(
    drawn: int, total: int, url: str | None
) -> None:
    told = more_rows({"page_query": QueryDict("q=a")}, "rows", drawn, total, "#paths")
    assert (told["more"].url if told["more"] else None) == url
    assert (told["drawn"], told["total"], told["part"]) == (drawn, total, "#paths")
