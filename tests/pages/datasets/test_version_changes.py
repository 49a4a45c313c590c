"""The changes between any two versions, and a part that becomes a dataset of its own."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Dataset
from tests.conftest import MakeDataset
from tests.pages.drafts.steps import CASES, at
from tests.pages.drafts.test_views import dataset
from tests.support.undone import undone

__all__ = ["dataset"]


def test_a_part_becomes_a_dataset_that_says_what_it_is_made_of(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], int, str]] = [
        ({"n": "2", "seed": "7"}, 2, "2 cases of Answers v1, seed 7"),
        ({"n": "500", "seed": "7"}, 4, "4 cases of Answers v1"),
        ({"seed": "7"}, 4, "4 cases of Answers v1"),
        ({"seed": "7", "tag": "easy"}, 1, "1 case of Answers v1 tagged easy"),
        ({"n": "1", "seed": "7", "tag": "easy"}, 1, "1 case of Answers v1 tagged easy, seed 7"),
    ]
    for form, number, source in cases:
        with subtests.test(form=form, number=number, source=source), undone():
            page = browser.post(at(dataset, "carve"), form | {"name": "Part"}, follow=True)
            assert f"Made of {source}." in page.text
            made = Dataset.objects.select_related("latest").get(name="Part")
            assert made.latest is not None
            assert (made.latest.case_count, made.latest.source_name) == (number, source)


def test_a_part_that_cannot_be_made_is_said(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"tag": "nowhere", "seed": "1", "name": "None"}, "No case is chosen"),
        ({"seed": "1", "name": "Answers"}, "called “Answers” already"),
        ({"n": "0", "seed": "1", "name": "Zero"}, "greater than or equal to 1"),
        ({"seed": "1", "name": ""}, "required"),
    ]
    for form, said in cases:
        with subtests.test(form=form, said=said), undone():
            answer = browser.post(at(dataset, "carve"), form)
            assert answer.status_code == 422
            assert said in answer.content.decode()
            assert Dataset.objects.count() == 1


def test_changes_of_any_two_versions(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "",
        "?kind=added",
        "?kind=removed",
        "?old=2&new=1",
        "?old=9",
        "?new=x",
        "?kind=odd",
    ]
    for query in cases:
        with subtests.test(query=query), undone():
            make_dataset(
                [{**CASES[0], "input": "Ein?"}, CASES[1], CASES[3], {"key": "q5", "input": "New"}]
            )
            page = browser.get(at(dataset, "version_changes") + query)
            assert page.status_code == 200
            kinds = dict(page.context["kinds"])
            assert sorted(kinds.values()) == [1, 1, 1]


def test_changed_tags_stand_in_one_line(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset
) -> None:
    make_dataset([{**CASES[0], "tags": ["easy", "look again"]}, *CASES[1:]])
    page = browser.get(at(dataset, "version_changes")).text
    assert "easy<ins>, look again</ins>" in page


@pytest.mark.parametrize("cases", [1, 50])
def test_changes_take_as_many_queries_for_many_cases(
    browser: Client,
    make_dataset: MakeDataset,
    django_assert_max_num_queries: Any,
    cases: int,
) -> None:
    first = make_dataset([{"key": f"k{n}", "input": n} for n in range(cases)], "Many")
    make_dataset([{"key": f"k{n}", "input": n + 1} for n in range(cases)], "Many")
    address = reverse("version_changes", args=[first.dataset.uuid])
    browser.get(address)
    with django_assert_max_num_queries(9):
        browser.get(address)
