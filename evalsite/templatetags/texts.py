"""Text from outside, set so that nothing in it hides; rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from django import template

from scoring.core import shown

Row = TypeVar("Row")

register = template.Library()

register.filter("marked", shown.marked)
register.filter("shown", shown.shown)
register.filter("gaps", shown.gaps)


@register.filter
def those(found: Mapping[str, Row] | None, names: Iterable[str]) -> list[Row]:
    """Of what was found by name, those of these names, in that order."""
    return [found[name] for name in names if name in found] if found else []
