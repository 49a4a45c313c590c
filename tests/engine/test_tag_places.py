"""Where a version's tags stand is found once, and asked instead of its cases."""

from __future__ import annotations

import json

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.engine import tag_places as looking
from scoring.engine.tag_places import keep_tag_places, places_of
from scoring.models import DatasetVersion, TagPlaces
from scoring.models import tag_places as keeping
from scoring.models.tag_places import UNKNOWN
from tests.conftest import MakeDataset

TAGS = [["billing"], ["tone", "billing"], [], ["tone", "tone"], ['a "b"'], ["x" * 201], ["a\0b"]]
HIDDEN = "a\u200bb"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(
        [{"key": f"q-{n}", "input": "a", "tags": tags} for n, tags in enumerate(TAGS, start=1)]
    )


@pytest.mark.parametrize(
    ("tag", "positions"),
    [
        ("billing", [1, 2]),
        ("tone", [2, 4]),
        ('a "b"', [5]),
        ("Billing", []),
        ("nowhere", []),
    ],
)
def test_the_positions_of_a_tag_are_kept(
    version: DatasetVersion, tag: str, positions: list[int]
) -> None:
    keep_tag_places(version)
    kept = TagPlaces.objects.of(version.pk, tag)
    assert (kept.positions, kept.is_known) == (positions, True)
    assert kept.positions == list(version.cases.tagged(tag).values_list("position", flat=True))


@pytest.mark.parametrize("tag", ["", "x" * 201, "a\0b"])
def test_a_tag_that_cannot_be_kept_is_looked_for_among_the_cases(
    version: DatasetVersion, tag: str
) -> None:
    keep_tag_places(version)
    assert TagPlaces.objects.of(version.pk, tag) == UNKNOWN


def test_nothing_is_known_before_anybody_has_looked(version: DatasetVersion) -> None:
    assert TagPlaces.objects.of(version.pk, "billing") == UNKNOWN


def test_a_version_without_tags_is_known_to_have_none(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "q-1", "input": "a"}])
    keep_tag_places(version)
    assert TagPlaces.objects.of(version.pk, "billing").positions == []


def test_of_a_tag_that_many_cases_have_no_position_is_kept(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "FEW", 1)
    keep_tag_places(version)
    kept = TagPlaces.objects.of(version.pk, "billing")
    assert (kept.positions, kept.is_known) == (None, True)
    assert TagPlaces.objects.of(version.pk, 'a "b"').positions == [5]


def test_of_more_tags_than_can_be_kept_nothing_is(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MOST_TAGS", 2)
    keep_tag_places(version)
    assert not TagPlaces.objects.exists()


def test_many_ways_to_write_few_tags_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_TAGS", 4)
    tags = [list(each) for each in ("ab", "ba", "a", "b", "abc", "cab", "bca", "ab", "c")]
    found = places_of((at, json.dumps(each)) for at, each in enumerate(tags, start=1))
    wanted = {tag: [n for n, each in enumerate(tags, start=1) if tag in each] for tag in "abc"}
    assert found is not None
    assert {tag: list(at) for tag, at in found.items()} == wanted


def test_a_version_is_looked_through_once(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    keep_tag_places(version)
    with django_assert_num_queries(1):
        keep_tag_places(version)


def test_a_tag_is_asked_for_in_one_query(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        TagPlaces.objects.of(version.pk, "billing")
    with django_assert_num_queries(0):
        TagPlaces.objects.of(version.pk, "x" * (keeping.TAG_LENGTH + 1))


def test_all_tags_are_offered_once_the_worker_has_looked(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    keep_tag_places(version)
    with django_assert_num_queries(1):
        assert TagPlaces.objects.offered(version) == ['a "b"', "billing", "tone"]


def test_until_then_those_of_the_first_cases_are_offered(
    version: DatasetVersion,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(keeping, "_LOOKED_AT", 2)
    with django_assert_num_queries(2):
        assert TagPlaces.objects.offered(version) == ["billing", "tone"]


@pytest.mark.parametrize("has_looked", [False, True])
def test_a_tag_that_cannot_be_seen_is_not_offered(
    make_dataset: MakeDataset, has_looked: bool
) -> None:
    version = make_dataset([{"key": "q-1", "input": "a", "tags": [HIDDEN, "seen"]}])
    if has_looked:
        keep_tag_places(version)
    assert TagPlaces.objects.offered(version) == ["seen"]


@pytest.mark.parametrize("has_looked", [False, True])
def test_no_more_tags_are_offered_than_a_list_bears(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch, has_looked: bool
) -> None:
    monkeypatch.setattr(keeping, "MOST_OFFERED", 2)
    if has_looked:
        keep_tag_places(version)
    assert TagPlaces.objects.offered(version) == ['a "b"', "billing"]
