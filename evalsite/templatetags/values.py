"""The filter that shows the beginning of a JSON value."""

from __future__ import annotations

import json

from django import template

from scoring.core.contract import Json

register = template.Library()

OPENING = 300  # characters of a text that a table row shows


@register.filter
def opening(value: Json) -> str:
    """The beginning of a value, for one line of a table."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= OPENING else f"{text[:OPENING]}…"
