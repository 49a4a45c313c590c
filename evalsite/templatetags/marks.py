"""Marks that a table repeats in each row: rendered once, and remembered, or in one step.

A page of fifty cases sets hundreds of them, and the template engine takes longer for these than
the database for the cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from html import escape
from typing import Final

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evalsite.pages.cases.table.case_table import ScoreCell
from evalsite.rendering.safe_html import join_safe, render_line
from evalsite.templatetags.formatting import NOTHING, ago, exact
from scoring.core.textdiff.text_layout import mark_spans

register = template.Library()

_CELL: Final = '<td class="num cell-score" data-label="{}">{}</td>'
_NOT_YET: Final = f'<span class="muted" title="not scored yet">{NOTHING}</span>'


@register.simple_tag
@lru_cache(maxsize=64)
def verdict_mark(verdict: str) -> SafeString:
    """`web/_verdict.html` without the word: pass, fail, error or skipped."""
    return render_to_string("web/_verdict.html", {"verdict": verdict, "mark_only": True})


@register.simple_tag
@lru_cache(maxsize=64)
def verdict_label(verdict: str) -> SafeString:
    """`web/_verdict.html`: pass, fail, error or skipped."""
    return render_to_string("web/_verdict.html", {"verdict": verdict})


@register.simple_tag
@lru_cache(maxsize=4096)
def score_bar(score: float, threshold: float, verdict: str) -> SafeString:
    """`web/_score.html` without its mark."""
    context = {"score": score, "threshold": threshold, "verdict": verdict}
    return render_to_string("web/_score.html", context)


@register.simple_tag
@lru_cache(maxsize=4096)
def score_mark(score: float, threshold: float, verdict: str) -> SafeString:
    """`web/_score.html` with its mark."""
    context = {"score": score, "threshold": threshold, "verdict": verdict, "with_mark": True}
    return render_to_string("web/_score.html", context)


@register.simple_tag
def case_cells(cells: Iterable[ScoreCell]) -> SafeString:
    """A row's cells, one for each scorer that has a column."""
    return join_safe(_CELL.format(escape(cell.scorer.name), _score_text(cell)) for cell in cells)


def _score_text(cell: ScoreCell) -> str:
    if cell.score is not None:
        return score_mark(cell.score, cell.threshold, cell.verdict)
    if cell.verdict:
        return f'<span title="{escape(cell.reason)}">{verdict_label(cell.verdict)}</span>'
    return _NOT_YET


@register.simple_tag
def time(when: datetime | None) -> SafeString:
    """How long ago it was, with the exact time as a title; app.js keeps it current."""
    iso = when.isoformat() if when else ""
    html = f'<time datetime="{iso}" title="{exact(when)}" data-ago>{ago(when)}</time>'
    return join_safe((html,))  # dates have nothing to escape


@register.filter
def visible(text: str) -> SafeString:
    """A text from outside, with what cannot be seen marked as in `web/_visible_text.html`."""
    return join_safe((render_line(text),))


@register.filter
def spell_out(text: str) -> str:
    """A text for an attribute: what cannot be seen by its code, since no mark fits in there."""
    return "".join(piece.code or piece.text for piece in mark_spans(text))


@register.simple_tag
@lru_cache(maxsize=64)
def change_mark(earlier: str | None, verdict: str) -> SafeString:
    """`runs/_verdict_change.html`: what became of a case, None if it was absent."""
    kinds = {("pass", "fail"): "broke", ("fail", "pass"): "fixed"}
    kind = kinds.get((earlier or "", verdict), "")
    return render_to_string(
        "runs/_verdict_change.html", {"earlier": earlier, "kind": kind, "now": verdict}
    )
