"""Codes of results in words."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from evalsite.pages.scorer_figures import CauseOfAll, Figure, causes_of
from scoring.core.codes import meaning

register = template.Library()

register.filter("meaning", meaning)


@register.filter
def codes(figures: Iterable[Figure], with_custom: bool = False) -> list[tuple[CauseOfAll, str]]:
    """Each code why outputs were not scored, once, with what it means.

    A custom scorer's own codes are there only `with_custom`, and then where they are errors.
    """
    found = ((cause, meaning(cause.code)) for cause in causes_of(figures))
    return [(cause, words) for cause, words in found if words or (with_custom and cause.errors > 0)]
