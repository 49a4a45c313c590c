"""Filters in an address: what is asked, and the address that asks the same."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from evalsite.pages.web.search_forms import MAX_TEXT, CaseSearchForm, SearchForm
from scoring.models import Case
from tests.conftest import MakeDataset


@pytest.mark.parametrize(
    ("query", "are_on", "is_by_tag", "kept"),
    [
        ("", False, False, ""),
        ("q=a b", True, False, "?q=a+b"),
        ("tag=x", True, True, "?tag=x"),
        ("tag=x&q=a", True, False, "?q=a&tag=x"),
        ("version=2", False, False, "?version=2"),
        ("q=&page=3", False, False, ""),
    ],
)
def test_an_address_keeps_what_is_asked(
    query: str, are_on: bool, is_by_tag: bool, kept: str
) -> None:
    filters = CaseSearchForm(QueryDict(query))
    assert (filters.are_on, filters.is_by_tag, filters.query) == (are_on, is_by_tag, kept)


@pytest.mark.parametrize(
    ("query", "keys"),
    [("", ["a", "b"]), ("q=One", ["a"]), ("tag=t", ["b"]), ("q=one&tag=t", []), ("version=0", [])],
)
def test_what_cannot_be_asked_matches_nothing(
    make_dataset: MakeDataset, query: str, keys: list[str]
) -> None:
    make_dataset([{"key": "a", "input": "one"}, {"key": "b", "input": "two", "tags": ["t"]}])
    found = CaseSearchForm(QueryDict(query)).filter_cases(Case.objects.all())
    assert [case.key for case in found.order_by("position")] == keys


@pytest.mark.parametrize(("text", "asked"), [(" a ", "a"), ("", ""), ("x" * (MAX_TEXT + 1), "")])
def test_a_search_that_is_too_long_searches_nothing(text: str, asked: str) -> None:
    assert SearchForm({"q": text}).text == asked
