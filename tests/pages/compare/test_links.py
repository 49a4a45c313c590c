"""Addresses of comparisons and cases keep what is asked and nothing empty."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.http import QueryDict

from evalsite.pages.compare.links import case_url, change_query, compare_url
from scoring.models import Run, Team
from scoring.models.case_paging import CasePosition

ONE, TWO, THREE = (Run(uuid=UUID(int=n)) for n in (1, 2, 3))


def test_a_comparison_names_its_runs() -> None:
    url = compare_url(Team(slug="support"), ONE, [TWO, THREE])
    path, _, query = url.partition("?")
    assert "support" in path
    asked = QueryDict(query)
    assert asked["baseline"] == str(ONE.uuid)
    assert asked.getlist("candidate") == [str(TWO.uuid), str(THREE.uuid)]


@pytest.mark.parametrize(
    ("trial", "query", "rest"),
    [(0, "", ""), (2, "", "?trial=2"), (0, "q=a", "?q=a"), (2, "q=a", "?q=a&trial=2")],
)
def test_a_case_names_its_trial_only_where_it_is_no_first_one(
    trial: int, query: str, rest: str
) -> None:
    url = case_url(ONE, CasePosition(7, trial), query)
    assert url.endswith((f"/7/{rest}", f"/7{rest}"))
    assert str(ONE.uuid) in url


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({}, "?a=1&a=2&b=3"),
        ({"b": "4"}, "?a=1&a=2&b=4"),
        ({"a": "5"}, "?b=3&a=5"),
        ({"a": None, "b": ""}, "?"),
        ({"c": "é&"}, "?a=1&a=2&b=3&c=%C3%A9%26"),
    ],
)
def test_a_changed_query_keeps_the_rest(changes: dict[str, str | None], left: str) -> None:
    query = QueryDict("a=1&a=2&b=3")
    assert change_query(query, **changes) == left
    assert change_query(query, "a", "b", **changes).count("a=1") == 0
    assert query.urlencode() == "a=1&a=2&b=3"
