"""Rows by name, and texts whose white space is marked where the page says so."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from django.template import Context, Template

from evalsite.templatetags.text_layout import pick


@pytest.mark.parametrize(
    ("found", "names", "rows"),
    [
        ({"a": 1, "b": 2}, "ba", [2, 1]),
        ({"a": 1}, "ca", [1]),
        ({}, "a", []),
        (None, "a", []),
    ],
)
def test_rows_come_in_the_order_of_the_names(
    found: Mapping[str, int] | None, names: str, rows: list[int]
) -> None:
    assert pick(found, names) == rows


@pytest.mark.parametrize(
    ("marks_space", "is_marked"), [(True, True), (False, False), (None, False)]
)
def test_white_space_is_marked_where_the_page_says_so(
    marks_space: bool | None, is_marked: bool
) -> None:
    context = Context({"text": "<b> \u200b", "marks_space": marks_space})
    html = Template(
        "{% load text_layout %}{% with it=text|shown %}{% render_text it.blocks %}{% endwith %}"
    ).render(context)
    assert "&lt;b&gt;" in html
    assert "U+200B" in html
    assert ("gap-space" in html) == is_marked
