"""Filters for values: the beginning of a JSON value, and what a mapping has under a key."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django import template

from scoring.core.contract import Json
from scoring.core.questions import answer_text

register = template.Library()

OPENING = 300  # characters of a text that a table row shows


@register.filter
def opening(value: Json) -> str:
    """The beginning of a value, for one line of a table."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= OPENING else f"{text[:OPENING]}…"


@register.filter
def answer(value: Json) -> str:
    """A reviewer's answer in words."""
    return answer_text(value)


@register.filter
def lookup(mapping: Mapping[object, object] | None, key: object) -> object:
    """The value of this key; None if there is none."""
    return mapping.get(key) if mapping else None
