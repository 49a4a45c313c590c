"""Filters that set geometry into SVG attributes."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def part_of(length: float, whole: float) -> str:
    """A length along an axis of `whole` as a share: 24 of 96 → "25%"."""
    return f"{round(100 * length / whole, 3):g}%" if whole else "0%"
