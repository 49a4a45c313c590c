"""Text from outside, set so that nothing in it hides; rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django import template
from django.utils.safestring import SafeString

from evalsite import safe_html
from scoring.core import shown
from scoring.core.shown import Stretch

Row = TypeVar("Row")


register = template.Library()

register.filter("marked", shown.marked)
register.filter("shown", shown.shown)


@register.filter
def those(found: Mapping[str, Row] | None, names: Iterable[str]) -> list[Row]:
    """Of what was found by name, those of these names, in that order."""
    return [found[name] for name in names if name in found] if found else []


@register.simple_tag(takes_context=True)
def drawn(context: Mapping[str, Any], stretches: Iterable[Stretch]) -> SafeString:
    """The text in its stretches; white space is marked where the page says so."""
    return safe_html.drawn(stretches, with_spaces=bool(context.get("marks_space")))
