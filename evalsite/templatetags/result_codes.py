"""Codes of results in words."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from evalsite.pages.runs.scorer_figures import ErrorCause, ScorerFigure, list_causes
from scoring.core.explain.result_codes import code_meaning

register = template.Library()

register.filter("meaning", code_meaning)


@register.filter
def codes(
    figures: Iterable[ScorerFigure], with_custom: bool = False
) -> list[tuple[ErrorCause, str]]:
    """Each code of a problem once, with what it means.

    A custom scorer's own codes are there only `with_custom`, and then where they are errors.
    """
    causes = ((cause, code_meaning(cause.code)) for cause in list_causes(figures))
    return [(cause, text) for cause, text in causes if text or (with_custom and cause.errors > 0)]
