"""How the numbers of a comparison are set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from evalsite.pages.compare.pair_list import ScoreChange
from evalsite.rendering.safe_html import join_safe
from evalsite.templatetags.formatting import NOTHING, score_near_threshold, signed
from scoring.core.wording.comparison import chance_text, p_text
from scoring.core.wording.numbers import MINUS, change_text

register = template.Library()

AT_ANY_WIDTH: Final = 2  # scorers whose cells a narrow page shows, too
_NO_SCORES: Final = f'<span class="muted">{NOTHING}</span>'
_ARROW: Final = '<span class="muted"> → </span>'

register.filter("p_text", p_text)


@register.filter
def p_value(p: float | None) -> str:
    """A p as sentences have it: 0.5 → "0.500", 0.00002 → "< 0.001"."""
    return NOTHING if p is None else chance_text(p)


@register.filter
def emphasize(sentence: str, name: str) -> SafeString:
    """A sentence with the name in it set off from the words around."""
    before, match, after = sentence.partition(name)
    return format_html("{}<b>{}</b>{}", before, match, after) if match else escape(sentence)


@register.filter
def change(value: float | None) -> str:
    """A difference with its sign and three decimals, a small one with four."""
    return NOTHING if value is None else change_text(value)


@register.filter
def size(value: float | None) -> str:
    """A size without its sign, with decimals as `change` has them."""
    return change(value).lstrip(f"+{MINUS}")


@register.simple_tag
def score_cells(changes: Iterable[ScoreChange]) -> SafeString:
    """The cells of a pair's scores, scorer by scorer.

    Set here and not by a template: with fifty rows its engine made the page an eighth slower.
    """
    return join_safe(_cell(index, change) for index, change in enumerate(changes))


def _cell(index: int, change: ScoreChange) -> str:
    width = "" if index < AT_ANY_WIDTH else " cell-wide"
    label = escape(change.scorer)
    return f'<td class="num{width}" data-label="{label}">{_scores(change)}</td>'


def _scores(change: ScoreChange) -> str:
    if change.before is None and change.after is None:
        return _NO_SCORES
    before, after = change.thresholds
    scores = score_near_threshold(change.before, before), score_near_threshold(change.after, after)
    return f"{_ARROW.join(scores)} {_delta(change.delta)}"


def _delta(delta: float | None) -> str:
    way = "" if not delta else " delta-up" if delta > 0 else " delta-down"
    return f'<span class="delta{way}">{signed(delta) if delta else ""}</span>'
