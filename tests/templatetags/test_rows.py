"""A table set by `{% rows %}` knows only what it is given."""

from __future__ import annotations

from django.template import Context, Template


def test_a_table_knows_nothing_of_the_page_around_it() -> None:
    page = Template('{% load rows %}{% rows "runs/_table.jinja" runs=runs %}')
    html = page.render(Context({"runs": [], "dataset": "D", "list": "elsewhere"}))
    assert "<th>Dataset</th>" in html
    assert "elsewhere" not in html
