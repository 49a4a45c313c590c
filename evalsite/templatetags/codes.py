"""Codes of results in words."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from evalsite.pages.scorer_figures import Figure
from scoring.core.codes import meaning

register = template.Library()

register.filter("meaning", meaning)


@register.filter
def codes(figures: Iterable[Figure]) -> list[tuple[str, str]]:
    """Each code why outputs were not scored, once, with what it means; custom ones are left out."""
    found = {cause.code: meaning(cause.code) for figure in figures for cause in figure.causes()}
    return [(code, words) for code, words in sorted(found.items()) if words]
