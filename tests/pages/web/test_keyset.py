"""Walking a list page by page, in either order, meets every row once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.http import QueryDict
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from evalsite.pages.web.keyset import KeysetPage, keyset_page
from scoring.models import Team


def page(order: str, query: str, size: int) -> KeysetPage[Team]:
    return keyset_page(Team.objects.all(), order, QueryDict(query), size)


def walk(order: str, size: int, link: str, start: str) -> list[list[int]]:
    """The ids on each page from `start` on, following one of the two links."""
    pages, query = [], start
    while True:
        here = page(order, query, size)
        pages.append([row.pk for row in here.rows])
        further = getattr(here, link)
        if further is None:
            return pages
        query = further[1:]


class Walks(TestCase):
    @settings(deadline=None)  # the database may be slow while others test beside it
    @given(st.integers(0, 9), st.integers(1, 4), st.sampled_from(["id", "-id"]))
    def test_every_row_is_met_once_both_ways(self, count: int, size: int, order: str) -> None:
        for number in range(count):
            Team.objects.create(name=str(number), slug=f"t{number}")
        expected = list(Team.objects.order_by(order).values_list("pk", flat=True))
        forth = walk(order, size, "next", "")
        assert [pk for ids in forth for pk in ids] == expected
        assert all(len(ids) == size for ids, _ in pairwise(forth))
        if count:
            sign = -1 if order == "id" else 1
            last = f"before={max(expected[-1] - sign, 0)}"
            back = walk(order, size, "previous", last)
            assert [pk for ids in reversed(back) for pk in ids] == expected


def test_links_keep_the_rest_of_the_query(db: None) -> None:
    for number in range(3):
        Team.objects.create(name=str(number), slug=f"t{number}")
    found = page("id", "q=a%26b&tag=x&after=0", 1)
    assert found.previous is not None
    assert found.next is not None
    first = found.rows[0].pk
    assert QueryDict(found.next[1:]) == QueryDict(f"q=a%26b&tag=x&after={first}")
    assert QueryDict(found.previous[1:]) == QueryDict(f"q=a%26b&tag=x&before={first}")


@pytest.mark.parametrize("query", [f"after={10**9}", "before=0"])
def test_a_place_beyond_the_list_is_empty_and_leads_nowhere(db: None, query: str) -> None:
    Team.objects.create(name="one", slug="one")
    assert page("id", query, 5) == KeysetPage([], None, None)
