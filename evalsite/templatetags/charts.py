"""Filters that set geometry into SVG attributes."""

from __future__ import annotations

from typing import Final

from django import template

NEAR_THE_END: Final = 0.9  # as a share of the axis

register = template.Library()


@register.filter
def length_share(length: float, whole: float) -> str:
    """A length along an axis of `whole` as a share: 24 of 96 → "25%"."""
    return f"{round(100 * length / whole, 3):g}%" if whole else "0%"


@register.filter
def anchor(at: float, whole: float) -> str:
    """Where the words of a tick are held: near the end of an axis, so that they end there too."""
    return "end" if whole and at / whole > NEAR_THE_END else "middle"
