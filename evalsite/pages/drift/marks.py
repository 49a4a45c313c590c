"""The marks of a drift chart as SVG, each a link.

Not in a template: a year of weekly runs is 150 links, for which the template engine would take
half of the page's time. Texts are escaped; numbers need no escaping.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final, NamedTuple

from django.utils.safestring import SafeString

from evalsite.rendering.safe_html import join_safe
from scoring.core.charts.drift_chart import FlipBar, Mark

MARK: Final = (
    '<a href="{}" class="{}" data-drift-mark="{}" data-place="{}" aria-label="{}">'
    '<svg x="{}" y="{}"><circle class="drift-reach" r="12" />{}</svg></a>\n'
)
DOT: Final = '<circle r="3.5" />'
DIAMOND: Final = '<path d="M0-7 7 0 0 7-7 0z" />'
FLAG: Final = '<path class="drift-flag" d="M-5-19h10L0-11z" />'
RING: Final = '<circle class="drift-ring" r="7.5" />'
STEP: Final = (
    '<a href="{}" class="drift-step" tabindex="-1" aria-label="Compare {}"><title>{}</title>'
    '<polyline points="{}" /></a>'
)
BAR: Final = (
    '<a href="{url}" class="drift-flips" data-place="{bar.place}" aria-label="Compare {text}">'
    "<title>{text}</title>"
    '<rect class="drift-reach" x="{bar.x}" width="{bar.width}" y="0" height="{height}" />'
    '<rect class="drift-fixed" x="{bar.x}" width="{bar.width}" y="{bar.fixed_y}" '
    'height="{bar.fixed_height}" />'
    '<rect class="drift-broke" x="{bar.x}" width="{bar.width}" y="{bar.broke_y}" '
    'height="{bar.broke_height}" /></a>\n'
)


class ChartPoint(NamedTuple):
    """A run in the chart, at `x` of its width. `segment` is the line from the run before, as two
    points; without a comparison `compare_url` is empty.
    """

    mark: Mark
    x: str
    classes: str
    bar: FlipBar | None
    run_url: str
    compare_url: str
    segment: str
    text: str
    flips_text: str
    is_firing: bool  # an alert that is not over


def draw_marks(points: Iterable[ChartPoint]) -> SafeString:
    """Every run with a mean: a dot, or a diamond where the level changed, with a ring outside
    limits and a flag where an alert fires.
    """
    return join_safe(_draw_mark(point) for point in points if point.mark.y is not None)


def _draw_mark(point: ChartPoint) -> str:
    mark = point.mark
    shape = DIAMOND if mark.is_change else DOT
    shape += (RING if mark.is_outside else "") + (FLAG if point.is_firing else "")
    return MARK.format(
        escape(point.run_url), point.classes, mark.x, mark.place, escape(point.text),
        point.x, mark.y, shape,
    )  # fmt: skip


def draw_steps(points: Iterable[ChartPoint]) -> SafeString:
    """The lines from run to run, each a link to their comparison."""
    return join_safe(
        STEP.format(
            escape(point.compare_url), escape(point.flips_text or point.mark.label),
            escape(point.flips_text), point.segment,
        )
        for point in points
        if point.segment
    )  # fmt: skip


def draw_bars(points: Iterable[ChartPoint], height: float) -> SafeString:
    """Cases fixed, upwards, and broken, downwards, in a panel of this height."""
    return join_safe(
        BAR.format(
            url=escape(point.compare_url), text=escape(point.flips_text), bar=bar, height=height
        )
        for point in points
        if (bar := point.bar)
    )
