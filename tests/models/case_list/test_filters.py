"""What is asked of a case, part by part."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import Review, RunScorer, Verdict
from scoring.models.case_list.filters import NO_FILTERS, CaseFilters
from scoring.models.case_list.label_filter import LabelFilter
from scoring.models.reviews.people_verdict import PeopleFilter, PeopleVerdict

SCORER = RunScorer(name="close")


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({}, ""),
        ({"verdict": Verdict.PASS}, "verdict"),
        ({"verdict": Verdict.PASS, "scorer": SCORER}, "scores"),
        ({"scorer": SCORER}, ""),
        ({"minimum": 0.0, "scorer": SCORER}, "scores"),
        ({"below": 0.0, "scorer": SCORER}, "scores"),
        ({"code": "timeout", "scorer": SCORER}, "scores"),
        ({"reviewed": False}, "reviewed"),
        ({"places": frozenset({(1, 0)}), "unsteady": True}, "places unsteady"),
        ({"tag": "a", "text": "b"}, "tag text"),
        ({"people": PeopleFilter(Review.objects.none(), PeopleVerdict.PASS)}, "people"),
        ({"labelled": LabelFilter(SCORER)}, "labelled"),
    ],
)
def test_only_what_is_asked_is_a_part(asked: dict[str, Any], parts: str) -> None:
    filters = CaseFilters(**asked)
    assert filters.parts == set(parts.split())
    assert filters.is_verdict_alone == (parts == "verdict")
    assert filters.reads_texts == (parts == "tag text")


def test_nothing_is_asked_unless_said() -> None:
    assert NO_FILTERS.parts == frozenset()
