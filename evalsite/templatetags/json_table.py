"""The rows of a table of JSON paths.

Set here and not by templates: two hundred rows are a thousand cells, and the template engine takes
three times as long for these as everything else on the page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from django import template
from django.utils.safestring import SafeString

from evalsite.pages.cases.texts.json_leaves import Credit
from evalsite.pages.cases.texts.json_paths import PathCell, PathTableRow, leaf_rows
from evalsite.pages.cases.texts.row_limits import link_more_rows
from evalsite.rendering.safe_html import join_safe, render_leaf, render_line
from evalsite.templatetags.formatting import score
from evalsite.templatetags.marks import verdict_mark

register = template.Library()

register.filter("leaf_rows", leaf_rows)

#: Characters of what a leaf was compared with, where that stands elsewhere.
MAX_REFERENCE_CHARS: Final = 80

_HEAD: Final = '<th class="cell-title" scope="row"><span class="id">{}</span></th>'
_CELL: Final = '<td data-label="{}">{}</td>'
_CREDIT: Final = '<td class="num" data-label="credit">{}</td>'
_MUTED: Final = ' <span class="muted">{}</span>'


@register.inclusion_tag("cases/texts/_more_rows.html", takes_context=True)
def more_rows(
    context: Mapping[str, Any], name: str, drawn: int, total: int, part: str
) -> dict[str, Any]:
    """How many rows there are and the way to more of them; nothing where all are drawn.

    `name` is the part of the address that says how many, `part` that of the page with the table.
    """
    more = link_more_rows(context["page_query"], name, drawn, total)
    return {"more": more, "drawn": drawn, "total": total, "part": part}


@register.simple_tag(takes_context=True)
def path_rows(
    context: Mapping[str, Any], rows: Iterable[PathTableRow], shared: Collection[str] = ()
) -> SafeString:
    """A row for each path; the texts of the `shared` names have one cell for their change."""
    with_spaces = bool(context.get("marks_space"))
    return join_safe(_row(row, shared, with_spaces) for row in rows)


def _row(row: PathTableRow, shared: Collection[str], with_spaces: bool) -> str:
    cells = [("change", row.change)] if shared else []
    cells += [(cell.name, [cell]) for cell in row.cells if cell.name not in shared]
    texts = "".join(_CELL.format(name, _leaves(parts, with_spaces)) for name, parts in cells)
    credit_cells = "".join(_CREDIT.format(_credit(c, with_spaces)) for c in row.credits)
    return f"<tr>{_HEAD.format(render_line(row.path))}{texts}{credit_cells}</tr>\n"


def _leaves(cells: Iterable[PathCell], with_spaces: bool) -> str:
    return " ".join(
        render_leaf(cell.text, cell.tag, with_spaces=with_spaces, since=cell.since)
        for cell in cells
    )


def _credit(credit: Credit, with_spaces: bool) -> str:
    if credit.value is None:
        return '<span class="muted">not counted</span>'
    number = f'{verdict_mark(credit.verdict)} <span class="number">{score(credit.value, 4)}</span>'
    word = "missing" if credit.is_missing else "partly" if credit.is_partial else ""
    return (
        number + (_MUTED.format(word) if word else "") + _reference(credit.reference, with_spaces)
    )


def _reference(text: str | None, with_spaces: bool) -> str:
    if text is None:
        return ""
    cut = text if len(text) <= MAX_REFERENCE_CHARS else f"{text[: MAX_REFERENCE_CHARS - 1]}…"
    return _MUTED.format(f'against <span class="id">{render_line(cut, with_spaces)}</span>')
