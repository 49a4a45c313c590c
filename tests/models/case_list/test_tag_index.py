"""What is kept of a version's tags is asked for in one query and offered where it can be seen."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.engine.runs.tag_index import store_tag_index
from scoring.models import DatasetVersion, TagIndex
from scoring.models.case_list import tag_index as keeping
from scoring.models.case_list.tag_index import TagIndexQuerySet
from tests.conftest import MakeDataset
from tests.engine.runs.test_tag_index import version
from tests.support.concurrency import call_at_once, wait_for_all

__all__ = ["version"]


HIDDEN = "a\u200bb"


def test_a_tag_is_asked_for_in_one_query(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        TagIndex.objects.of(version.pk, "billing")
    with django_assert_num_queries(0):
        TagIndex.objects.of(version.pk, "x" * (keeping.TAG_LENGTH + 1))


def test_all_tags_are_offered_once_the_worker_has_looked(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store_tag_index(version)
    with django_assert_num_queries(1):
        assert TagIndex.objects.offered(version) == ['a "b"', "billing", "tone"]


def test_until_then_those_of_the_first_cases_are_offered(
    version: DatasetVersion,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(keeping, "_LOOKED_AT", 2)
    with django_assert_num_queries(2):
        assert TagIndex.objects.offered(version) == ["billing", "tone"]


@pytest.mark.parametrize("has_looked", [False, True])
def test_a_tag_that_cannot_be_seen_is_not_offered(
    make_dataset: MakeDataset, has_looked: bool
) -> None:
    version = make_dataset([{"key": "q-1", "input": "a", "tags": [HIDDEN, "seen"]}])
    if has_looked:
        store_tag_index(version)
    assert TagIndex.objects.offered(version) == ["seen"]


@pytest.mark.parametrize("has_looked", [False, True])
def test_no_more_tags_are_offered_than_a_list_bears(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch, has_looked: bool
) -> None:
    monkeypatch.setattr(keeping, "MAX_OFFERED", 2)
    if has_looked:
        store_tag_index(version)
    assert TagIndex.objects.offered(version) == ['a "b"', "billing"]


@pytest.mark.django_db(transaction=True)
def test_two_who_keep_the_tags_at_once_keep_them_once(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = wait_for_all(TagIndexQuerySet.bulk_create, 2)
    monkeypatch.setattr(TagIndexQuerySet, "bulk_create", insert)
    call_at_once(lambda: TagIndex.objects.keep(version, {"billing": [1, 2]}), 2)
    assert sorted(TagIndex.objects.values_list("tag", flat=True)) == ["", "billing"]
