"""Where a version's tags stand is found once, and asked instead of its cases."""

from __future__ import annotations

import json

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.engine.runs import tag_index as looking
from scoring.engine.runs.tag_index import positions_by_tag, store_tag_index
from scoring.models import DatasetVersion, TagIndex
from scoring.models.case_list.tag_index import UNKNOWN
from tests.conftest import MakeDataset

TAGS = [["billing"], ["tone", "billing"], [], ["tone", "tone"], ['a "b"'], ["x" * 201], ["a\0b"]]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(
        [{"key": f"q-{n}", "input": "a", "tags": tags} for n, tags in enumerate(TAGS, start=1)]
    )


@pytest.mark.parametrize(
    ("tag", "positions"),
    [("billing", [1, 2]), ("tone", [2, 4]), ('a "b"', [5]), ("Billing", []), ("nowhere", [])],
)
def test_the_positions_of_a_tag_are_kept(
    version: DatasetVersion, tag: str, positions: list[int]
) -> None:
    store_tag_index(version)
    kept = TagIndex.objects.of(version.pk, tag)
    assert (kept.positions, kept.is_known) == (positions, True)
    assert kept.positions == list(version.cases.tagged(tag).values_list("position", flat=True))


@pytest.mark.parametrize("tag", ["", "x" * 201, "a\0b"])
def test_a_tag_that_cannot_be_kept_is_looked_for_among_the_cases(
    version: DatasetVersion, tag: str
) -> None:
    store_tag_index(version)
    assert TagIndex.objects.of(version.pk, tag) == UNKNOWN


def test_nothing_is_known_before_anybody_has_looked(version: DatasetVersion) -> None:
    assert TagIndex.objects.of(version.pk, "billing") == UNKNOWN


def test_a_version_without_tags_is_known_to_have_none(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "q-1", "input": "a"}])
    store_tag_index(version)
    assert TagIndex.objects.of(version.pk, "billing").positions == []


def test_of_a_tag_that_many_cases_have_no_position_is_kept(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MAX_POSITIONS", 1)
    store_tag_index(version)
    kept = TagIndex.objects.of(version.pk, "billing")
    assert (kept.positions, kept.is_known) == (None, True)
    assert TagIndex.objects.of(version.pk, 'a "b"').positions == [5]


def test_of_more_tags_than_can_be_kept_nothing_is(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MAX_TAGS", 2)
    store_tag_index(version)
    assert not TagIndex.objects.exists()


def test_many_ways_to_write_few_tags_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MAX_TAGS", 4)
    tags = [list(each) for each in ("ab", "ba", "a", "b", "abc", "cab", "bca", "ab", "c")]
    found = positions_by_tag((at, json.dumps(each)) for at, each in enumerate(tags, start=1))
    wanted = {tag: [n for n, each in enumerate(tags, start=1) if tag in each] for tag in "abc"}
    assert found is not None
    assert {tag: list(at) for tag, at in found.items()} == wanted


def test_a_version_is_looked_through_once(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store_tag_index(version)
    with django_assert_num_queries(1):
        store_tag_index(version)
