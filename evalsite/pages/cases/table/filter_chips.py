"""The filters of a case table that are on, and its order, in words."""

from __future__ import annotations

from collections.abc import Iterator

from evalsite.templatetags.formatting import plain
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder


def describe_filters(
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
        labels = {"expected": expected, "answered": answered}
        text = ", ".join(f"{verb} {label}" for verb, label in labels.items() if label)
        yield text, tuple(labels)
    yield from _describe_case_filters(filters)


def describe_order(order: CaseOrder) -> str:
    """The order in words; empty for the dataset's, which is the default."""
    if order.scorer is None:
        return "last case first" if order.descending else ""
    return f"sorted by {order.scorer.name}, {'highest' if order.descending else 'lowest'} first"


def _describe_case_filters(filters: CaseFilters) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The filters that concern a case whatever its scores."""
    if filters.unsteady:
        judge = f" by {filters.scorer.name}" if filters.scorer else ""
        yield f"unsteady{judge}", ("unsteady",)
    if filters.change:
        yield f"{filters.change.kind.label} since {filters.change.baseline.name}", ("change",)
    if filters.reviewed is not None:
        yield "reviewed" if filters.reviewed else "not reviewed", ("reviewed",)
    if filters.people:
        yield f"people: {filters.people.verdict.label}", ("reviewed",)
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
