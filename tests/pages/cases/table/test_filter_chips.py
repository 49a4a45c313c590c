"""Filters and orders in words, each with its names in the address."""

from __future__ import annotations

from typing import Any

import pytest

from evalsite.pages.cases.table.filter_chips import describe_filters, describe_order
from scoring.models import Review, Run, RunScorer, Verdict
from scoring.models.case_list.change_filter import ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.label_filter import LabelFilter
from scoring.models.case_list.table import CaseOrder
from scoring.models.pairs.rows import PairKind
from scoring.models.reviews.people_verdict import PeopleFilter, PeopleVerdict

CLOSE = RunScorer(name="close")
LABELLED = LabelFilter(CLOSE)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, []),
        ({"verdict": Verdict.FAIL}, [("fail", ("verdict",))]),
        ({"verdict": Verdict.FAIL, "scorer": CLOSE}, [("fail by close", ("verdict",))]),
        ({"minimum": 0.25, "below": 0.5, "scorer": CLOSE},
         [("close ≥ 0.25, < 0.5", ("min", "max", "below"))]),
        ({"maximum": 0.0, "scorer": CLOSE}, [("close ≤ 0", ("min", "max", "below"))]),
        ({"code": "timeout", "scorer": CLOSE}, [("close: timeout", ("code",))]),
        ({"unsteady": True}, [("unsteady", ("unsteady",))]),
        ({"unsteady": True, "scorer": CLOSE}, [("unsteady by close", ("unsteady",))]),
        ({"change": ChangeFilter(PairKind.BROKE, Run(name="w1"))},
         [("broke since w1", ("change",))]),
        ({"reviewed": False}, [("not reviewed", ("reviewed",))]),
        ({"people": PeopleFilter(Review.objects.none(), PeopleVerdict.FAIL)},
         [("people: fail", ("reviewed",))]),
        ({"places": frozenset({(1, 0)})}, [("1 ticked case", ("place",))]),
        ({"places": frozenset({(1, 0), (2, 0)})}, [("2 ticked cases", ("place",))]),
        ({"tag": "a", "text": "b"}, [("tag a", ("tag",)), ("“b”", ("q",))]),
    ],
)  # fmt: skip
def test_each_filter_that_is_on_is_told(
    asked: dict[str, Any], told: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list(describe_filters(CaseFilters(**asked))) == told


@pytest.mark.parametrize(
    ("expected", "answered", "text"),
    [("yes", "no", "expected yes, answered no"), ("", "no", "answered no")],
)
def test_a_cell_is_told_by_its_labels(expected: str, answered: str, text: str) -> None:
    filters = CaseFilters(labelled=LABELLED)
    chips = list(describe_filters(filters, expected, answered))
    assert chips == [(text, ("expected", "answered"))]


@pytest.mark.parametrize(
    ("scorer", "descending", "text"),
    [
        (None, False, ""),
        (None, True, "last case first"),
        (CLOSE, False, "sorted by close, lowest first"),
        (CLOSE, True, "sorted by close, highest first"),
    ],
)
def test_only_an_unusual_order_is_told(
    scorer: RunScorer | None, descending: bool, text: str
) -> None:
    assert describe_order(CaseOrder(scorer, descending)) == text
