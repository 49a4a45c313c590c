"""Filters that set the numbers of a comparison."""

from __future__ import annotations

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from evalsite.templatetags.look import MINUS, NOTHING

register = template.Library()


@register.filter
def chance(p: float | None) -> str:
    """Three decimals, so that a column of them lines up: 0.5 → "0.500", 0.00002 → "< 0.001"."""
    if p is None:
        return NOTHING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


@register.filter
def set_off(sentence: str, name: str) -> SafeString:
    """A sentence with the name in it set off from the words around."""
    before, found, after = sentence.partition(name)
    return format_html("{}<b>{}</b>{}", before, found, after) if found else escape(sentence)


@register.filter
def change(value: float | None) -> str:
    """A difference with its sign and three decimals, a small one with four."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.3f}" if abs(value) >= 0.001 else f"{abs(value):.4f}"
    return "0" if float(text) == 0 else ("+" if value > 0 else MINUS) + text


@register.filter
def size(value: float | None) -> str:
    """A size without its sign, with decimals as `change` has them."""
    return change(value).lstrip(f"+{MINUS}")
