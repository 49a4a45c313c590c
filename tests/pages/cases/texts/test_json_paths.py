"""The rows of a table of JSON paths: as the template engine sets them, and nothing hidden."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from django.template import Context, Template

from evalsite.pages.cases.texts.json_leaves import Credit
from evalsite.pages.cases.texts.json_paths import PathCell, PathTableRow, leaf_rows
from evalsite.templatetags.json_table import path_rows
from scoring.core.scorers.json_leaves import Leaf

#: A row in the language of all other pages, for leaves that are shown whole.
ROW: Final = """{% load formatting marks %}{% for row in rows %}<tr>
<th class="cell-title" scope="row"><span class="id">{{ row.path|visible }}</span></th>
{% if shared %}<td data-label="change">
  {% for cell in row.change %}{% include leaf %}{% endfor %}</td>{% endif %}
{% for cell in row.cells %}{% if cell.name not in shared %}
  <td data-label="{{ cell.name }}">{% include leaf %}</td>{% endif %}{% endfor %}
{% for credit in row.credits %}<td class="num" data-label="credit">
  {% if credit.value is None %}<span class="muted">not counted</span>
  {% else %}{% verdict_mark credit.verdict %} <span class="number">{{ credit.value|score:4 }}</span>
  {% if credit.is_missing %} <span class="muted">missing</span>
  {% elif credit.is_partial %} <span class="muted">partly</span>{% endif %}
  {% if credit.reference %} <span class="muted">against
    <span class="id">{{ credit.reference|visible }}</span></span>{% endif %}{% endif %}
</td>{% endfor %}</tr>{% endfor %}"""
LEAF: Final = """{% load marks %}{% if cell.text is None %}<span class="muted">nothing</span>
{% elif cell.tag == "del" %}<del class="id">{{ cell.text|visible }}</del>
{% elif cell.tag == "ins" %}<ins class="id">{{ cell.text|visible }}</ins>
{% else %}<span class="id">{{ cell.text|visible }}</span>{% endif %}"""

HOSTILE = "<img src=x onerror='alert(1)'> & \" {{ 7 }} \u202e\u200b{% now %}"


def row(path: str, one: str | None, other: str | None, *credits_of: Credit) -> PathTableRow:
    cells = [
        PathCell("expected", one, "del"),
        PathCell("baseline", HOSTILE, ""),
        PathCell("output", other, "ins"),
    ]
    return PathTableRow(path, cells, [cells[0], cells[2]], credits_of)


ROWS: Final = [
    row("a", '"x"', '"y"', Credit("s", 0.0), Credit("t", 0.25, reference=HOSTILE)),
    row(f'["{HOSTILE}"]', HOSTILE, None, Credit("s", 0.0, is_missing=True), Credit("t")),
    row("b[0]", None, "[]", Credit("s", 1.0), Credit("t", 0.99996)),
    row("ü", "1", "1"),
]


def squeezed(html: str) -> str:
    """Without the white space that only lays out the source."""
    return re.sub(r"(?<=>)\s+|\s+(?=<)", "", html)


@pytest.mark.parametrize("shared", [(), ("expected", "output")])
def test_rows_are_what_the_template_engine_would_set(shared: tuple[str, ...]) -> None:
    context = {"rows": ROWS, "shared": shared, "leaf": Template(LEAF)}
    assert squeezed(path_rows({}, ROWS, shared)) == squeezed(Template(ROW).render(Context(context)))


@pytest.mark.parametrize("with_spaces", [True, False])
def test_no_text_becomes_markup_nor_stays_hidden(with_spaces: bool) -> None:
    html = path_rows({"marks_space": with_spaces}, ROWS)
    assert "<img" not in html
    assert not {"\u202e", "\u200b"} & set(re.sub(r"<[^>]*>", "", html))
    assert html.count('title="U+202E right-to-left override"') == 7
    assert ("gap-space" in html) == with_spaces


def test_what_a_leaf_was_compared_with_is_cut_to_a_line() -> None:
    html = path_rows({}, [row("a", "1", "2", Credit("s", 0.5, reference="x" * 81))])
    assert f'against <span class="id">{"x" * 79}…</span>' in html


@pytest.mark.parametrize(
    ("found", "texts", "tags", "credit"),
    [
        (Leaf("a", 1, 1.0, 1.0, False), ("1", "1"), ("", ""), Credit("", 1.0)),
        (Leaf("a", "x", "y", 0.0, False), ('"x"', '"y"'), ("del", "ins"), Credit("", 0.0)),
        (Leaf("a", None, None, 0.0, True), ("null", None), ("del", ""), Credit("", 0.0, True)),
    ],
)
def test_a_leaf_has_a_row_wherever_it_lies(
    found: Leaf, texts: Any, tags: Any, credit: Credit
) -> None:
    (shown,) = leaf_rows([found])
    assert tuple(cell.text for cell in shown.cells) == texts
    assert tuple(cell.tag for cell in shown.cells) == tags
    assert shown.credits == [credit]


def test_of_leaves_that_lie_anywhere_what_differs_is_in_sight_too() -> None:
    (shown,) = leaf_rows([Leaf("a", "same " * 200 + "x", "same " * 200 + "y", 0.99, False)])
    html = path_rows({}, [shown])
    assert re.findall(r"<(?:del|ins)[^>]*>…(?:same )+([xy])&quot;", html) == ["x", "y"]
