"""The filters of a case table that are on, and its order, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evalsite.templatetags.look import plain
from scoring.models.case_filters import CaseFilters
from scoring.models.case_table import CaseOrder


class Chip(NamedTuple):
    """A filter that is on, and the address without it."""

    text: str
    url: str


def described(
    filters: CaseFilters, expected: str = "", answered: str = ""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each filter that is on in words, with its names in the address."""
    scorer = filters.scorer
    if filters.verdict is not None:
        judge = f" by {scorer.name}" if scorer else ""
        yield f"{filters.verdict.label}{judge}", ("verdict",)
    if (limits := _limits(filters)) and scorer:
        yield f"{scorer.name} {limits}", ("min", "max", "below")
    if filters.code and scorer:
        yield f"{scorer.name}: {filters.code}", ("code",)
    if filters.labelled:
        parts = {"expected": expected, "answered": answered}
        said = ", ".join(f"{verb} {label}" for verb, label in parts.items() if label)
        yield said, tuple(parts)
    yield from _of_cases(filters)


def ordered(order: CaseOrder) -> str:
    """The order in words; empty for the dataset's, which is the usual one."""
    if order.scorer is None:
        return "last case first" if order.descending else ""
    return f"sorted by {order.scorer.name}, {'highest' if order.descending else 'lowest'} first"


def _of_cases(filters: CaseFilters) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is asked of a case whatever its scores."""
    if filters.unsteady:
        judge = f" by {filters.scorer.name}" if filters.scorer else ""
        yield f"unsteady{judge}", ("unsteady",)
    if filters.change:
        change = filters.change
        yield f"{change.kind.label} since {change.against.name}", ("change",)
    if filters.reviewed is not None:
        yield "reviewed" if filters.reviewed else "not reviewed", ("reviewed",)
    if filters.places:
        number = len(filters.places)
        yield f"{number} ticked case{'s' * (number > 1)}", ("place",)
    if filters.tag:
        yield f"tag {filters.tag}", ("tag",)
    if filters.text:
        yield f"“{filters.text}”", ("q",)


def _limits(filters: CaseFilters) -> str:
    signs = {"≥": filters.minimum, "≤": filters.maximum, "<": filters.below}
    return ", ".join(f"{sign} {plain(limit)}" for sign, limit in signs.items() if limit is not None)
