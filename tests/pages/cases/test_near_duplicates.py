"""A dataset's cases say which earlier ones they repeat, as far as their import told."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from scoring.models import Dataset, Upload, VersionDuplicates
from tests.pages.uploads.steps import checked, imported, sent
from tests.support.html import on_one_line

QUESTION = "Which of the two customers was refunded on Monday, and how much was it?"


@pytest.fixture
def dataset(browser: Client) -> Dataset:
    rows = ["a first question", QUESTION, "a first question", QUESTION + " Say why.", "another"]
    lines = "".join(f'{n},"{row}"\n' for n, row in enumerate(rows))
    imported(browser, checked(browser, sent(browser, f"id,input\n{lines}")))
    return Dataset.objects.get()


def marks_of(browser: Client, dataset: Dataset, **query: str) -> list[str]:
    page = browser.get(reverse("dataset", args=[dataset.uuid]), query).text
    rows = page.split("<tbody>")[1].split("</tr>")[:-1]
    return ["repeats" if "repeats no." in row else "like" * ("much like" in row) for row in rows]


def test_repeats_and_near_duplicates_are_marked(browser: Client, dataset: Dataset) -> None:
    assert marks_of(browser, dataset) == ["", "", "repeats", "like", ""]
    assert marks_of(browser, dataset, q="refunded") == ["", "like"]


def test_a_mark_leads_to_the_earlier_case(browser: Client, dataset: Dataset) -> None:
    page = on_one_line(browser.get(reverse("dataset", args=[dataset.uuid])).text)
    earlier = reverse("dataset_case", args=[dataset.uuid, 2])
    assert f'<a class="tag" href="{earlier}">much like no. 2</a>' in page


def test_a_later_version_has_marks_of_its_own(browser: Client, dataset: Dataset) -> None:
    more = {"dataset": str(dataset.uuid)}
    imported(browser, checked(browser, sent(browser, "id,input\n1,a\n2,b\n3,b\n", **more)))
    assert marks_of(browser, dataset) == ["", "", "repeats"]
    assert marks_of(browser, dataset, version="1") == ["", "", "repeats", "like", ""]


def test_marks_stay_when_the_upload_is_gone(browser: Client, dataset: Dataset) -> None:
    Upload.objects.all().delete()
    assert marks_of(browser, dataset) == ["", "", "repeats", "like", ""]


def test_marks_cost_one_query(
    dataset: Dataset, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert dataset.latest is not None
    with django_assert_num_queries(1):
        found = VersionDuplicates.objects.of(dataset.latest)
    assert {place: each.first for place, each in found.items()} == {3: 1, 4: 2}
