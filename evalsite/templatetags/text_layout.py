"""Text from outside, set so that nothing in it hides; rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django import template
from django.utils.safestring import SafeString

from evalsite.rendering import safe_html
from scoring.core.textdiff import text_layout
from scoring.core.textdiff.text_layout import Block

Row = TypeVar("Row")


register = template.Library()

register.filter("marked", text_layout.mark_spans)
register.filter("shown", text_layout.layout_text)


@register.filter
def pick(rows: Mapping[str, Row] | None, names: Iterable[str]) -> list[Row]:
    """The rows with these names, in their order."""
    return [rows[name] for name in names if name in rows] if rows else []


@register.simple_tag(takes_context=True)
def render_text(context: Mapping[str, Any], blocks: Iterable[Block]) -> SafeString:
    """The text of these blocks; white space is marked if the page asks for it."""
    return safe_html.render_text(blocks, with_spaces=bool(context.get("marks_space")))
