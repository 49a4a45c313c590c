"""Filters that set the numbers of a comparison."""

from __future__ import annotations

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from evalsite.templatetags.look import NOTHING
from scoring.core.number_text import MINUS, change_text
from scoring.core.sentences import chance_text, p_text

register = template.Library()

register.filter("p_text", p_text)


@register.filter
def chance(p: float | None) -> str:
    """A p as sentences have it: 0.5 → "0.500", 0.00002 → "< 0.001"."""
    return NOTHING if p is None else chance_text(p)


@register.filter
def set_off(sentence: str, name: str) -> SafeString:
    """A sentence with the name in it set off from the words around."""
    before, found, after = sentence.partition(name)
    return format_html("{}<b>{}</b>{}", before, found, after) if found else escape(sentence)


@register.filter
def change(value: float | None) -> str:
    """A difference with its sign and three decimals, a small one with four."""
    return NOTHING if value is None else change_text(value)


@register.filter
def size(value: float | None) -> str:
    """A size without its sign, with decimals as `change` has them."""
    return change(value).lstrip(f"+{MINUS}")
