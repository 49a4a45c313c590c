"""The marks of a drift chart as SVG, a link each.

Set here and not by templates: a year of weekly runs is 150 links, and the template engine would
take half of the page's time for them. Texts are escaped, numbers hold nothing to escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from django.utils.safestring import SafeString

from evalsite.safe_html import joined

if TYPE_CHECKING:
    from evalsite.pages.drift_figure import Spot

MARK: Final = (
    '<a href="{}" class="{}" data-drift-mark="{}" data-place="{}" aria-label="{}">'
    '<svg x="{}" y="{}"><circle class="drift-reach" r="12" />'
)
MARK_END: Final = "</svg></a>\n"
DOT: Final = '<circle r="3.5" />'
DIAMOND: Final = '<path d="M0-7 7 0 0 7-7 0z" />'
FLAG: Final = '<path class="drift-flag" d="M-5-19h10L0-11z" />'
RING: Final = '<circle class="drift-ring" r="7.5" />'
STEP: Final = (
    '<a href="{}" class="drift-step" tabindex="-1" aria-label="Compare {}"><title>{}</title>'
    '<polyline points="{}" /></a>'
)
BAR: Final = (
    '<a href="{url}" class="drift-flips" data-place="{place}" aria-label="Compare {says}">'
    "<title>{says}</title>"
    '<rect class="drift-reach" x="{x}" width="{width}" y="0" height="{height}" />'
    '<rect class="drift-fixed" x="{x}" width="{width}" y="{fixed_y}" height="{fixed}" />'
    '<rect class="drift-broke" x="{x}" width="{width}" y="{broke_y}" height="{broke}" /></a>\n'
)


def marks(spots: Iterable[Spot]) -> SafeString:
    """Every run with a mean: a dot, a diamond where the level changed; a ring outside limits, and a
    flag where an alert fires.
    """
    return joined(_marks(spots))


def steps(spots: Iterable[Spot]) -> SafeString:
    """The lines from run to run, each to their comparison."""
    return joined(_steps(spots))


def bars(spots: Iterable[Spot], height: float) -> SafeString:
    """Cases fixed, upwards, and broken, downwards, in a panel of this height."""
    return joined(_bars(spots, height))


def _marks(spots: Iterable[Spot]) -> Iterator[str]:
    for spot in spots:
        mark = spot.mark
        if mark.y is not None:
            shape = DIAMOND if mark.is_change else DOT
            shape += (RING if mark.is_outside else "") + (FLAG if spot.is_firing else "")
            head = MARK.format(
                escape(spot.run_url), spot.look, mark.x, mark.place, escape(spot.says),
                spot.x, mark.y,
            )  # fmt: skip
            yield f"{head}{shape}{MARK_END}"


def _steps(spots: Iterable[Spot]) -> Iterator[str]:
    for spot in spots:
        if spot.segment:
            name, flips = escape(spot.flips_say or spot.mark.label), escape(spot.flips_say)
            yield STEP.format(escape(spot.compare_url), name, flips, spot.segment)


def _bars(spots: Iterable[Spot], height: float) -> Iterator[str]:
    for spot in spots:
        if bar := spot.bar:
            yield BAR.format(
                url=escape(spot.compare_url), place=bar.place, says=escape(spot.flips_say),
                x=bar.x, width=bar.width, height=height,
                fixed_y=bar.fixed_y, fixed=bar.fixed_height,
                broke_y=bar.broke_y, broke=bar.broke_height,
            )  # fmt: skip
