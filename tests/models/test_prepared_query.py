"""A prepared query reads the rows of its queryset, for any arguments, by SQL written once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.models import Case, Dataset, DatasetVersion, Team, Waiver
from scoring.models.prepared_query import MAX_LISTED, MAX_STATEMENTS, prepared_query
from tests.conftest import MakeDataset
from tests.support.concurrency import call_at_once

KEYS = [f"q-{n}" for n in range(1, 10)]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": key, "input": f"of {key}"} for key in KEYS])


built: list[str] = []


@prepared_query
def cases_by_key(version: int, keys: Sequence[str]) -> QuerySet[Case, tuple[int, str]]:
    built.append("cases_by_key")
    cases = Case.objects.filter(version=version, key__in=keys)
    return cases.order_by("position").values_list("position", "key")


@prepared_query
def versions_of(dataset: uuid.UUID) -> QuerySet[DatasetVersion]:
    return DatasetVersion.objects.select_related("dataset__team").filter(dataset__uuid=dataset)


@prepared_query
def created_until(moment: datetime) -> QuerySet[Dataset, str]:
    return Dataset.objects.filter(created_at__lte=moment).values_list("name", flat=True)


@prepared_query
def annotated_teams(uid: uuid.UUID, position: int) -> QuerySet[Team]:
    cases = Case.objects.filter(version__dataset__team=OuterRef("pk"), position=position)
    teams = Team.objects.filter(datasets__uuid=uid)
    return teams.annotate(has_case=Exists(cases), same=F("slug")).only("slug")[:1]


@prepared_query
def first_keys(version: int, *, limit: int, is_last: bool = False) -> QuerySet[Case, str]:
    cases = Case.objects.filter(version=version).order_by("-position" if is_last else "position")
    return cases.values_list("key", flat=True)[:limit]


@prepared_query
def older_versions(pk: int) -> QuerySet[DatasetVersion]:
    return DatasetVersion.objects.filter(pk__lt=pk, created_at__lt=timezone.now())


@prepared_query
def waived_versions(pk: int) -> QuerySet[DatasetVersion]:
    waivers = Waiver.objects.filter(until__gte=timezone.localdate()).values("dataset")
    return DatasetVersion.objects.filter(pk__lt=pk, dataset__in=waivers)


@prepared_query
def prefetched_versions(pk: int) -> QuerySet[DatasetVersion]:
    return DatasetVersion.objects.filter(pk=pk).prefetch_related("cases")


def test_rows_are_those_of_the_queryset_for_each_list_of_values(
    version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    for keys in (KEYS, ["q-2", "q-7"], ("q-3", "q-1"), ["q-9", "no"], ["q-9"], ["x"], []):
        with subtests.test(keys=keys):
            expected = [(n, key) for n, key in enumerate(KEYS, 1) if key in keys]
            assert cases_by_key(version.pk, keys) == expected
            assert cases_by_key(keys=keys, version=version.pk) == expected
            assert cases_by_key(version.pk + 1, keys) == []


def test_a_query_may_depend_on_keyword_only_arguments(version: DatasetVersion) -> None:
    for limit in (3, 1, 3):
        assert first_keys(version.pk, limit=limit) == KEYS[:limit]
        assert first_keys(version.pk, limit=limit, is_last=True) == KEYS[::-1][:limit]


def test_the_sql_for_long_lists_is_not_kept(version: DatasetVersion) -> None:
    kept = len(vars(cases_by_key._kept))
    long = [*KEYS, *(f"no {n}" for n in range(MAX_LISTED))]
    assert [key for _, key in cases_by_key(version.pk, long)] == KEYS
    assert len(vars(cases_by_key._kept)) == kept


def test_few_statements_are_kept(version: DatasetVersion) -> None:
    for limit in range(1, 3 * MAX_STATEMENTS):
        first_keys(version.pk, limit=limit)
        assert len(vars(first_keys._kept)) <= MAX_STATEMENTS
    assert first_keys(version.pk, limit=2) == KEYS[:2]


def test_sql_is_written_once_for_lists_of_a_length(version: DatasetVersion) -> None:
    cases_by_key(version.pk, ["q-1", "q-2", "q-3"])
    built.clear()
    for keys in (["q-4", "q-5", "q-6"], ["no", "q-5", "'; --"]):
        cases_by_key(version.pk, keys)
    assert built == []
    cases_by_key(version.pk, ["q-1", "q-2", "q-3", "q-4", "q-5", "q-6", "q-7"])
    assert built == ["cases_by_key"]


def test_each_call_asks_the_database(version: DatasetVersion) -> None:
    with CaptureQueriesContext(connection) as captured:
        before = cases_by_key(version.pk, ["q-1"])
        Case.objects.filter(key="q-1").delete()
        after = cases_by_key(version.pk, ["q-1"])
    asked = [query["sql"] for query in captured if query["sql"].startswith("SELECT")]
    assert (before, after) == ([(1, "q-1")], [])
    assert len({sql for sql in asked if '"key" IN' in sql}) == 1


def test_models_come_with_what_is_joined_annotated_and_deferred(
    version: DatasetVersion, django_assert_num_queries: Any
) -> None:
    dataset = version.dataset
    for uid, expected in ((dataset.uuid, [version]), (uuid.uuid4(), [])):
        with django_assert_num_queries(1):
            found = versions_of(uid)
            assert [row.dataset.team for row in found] == [row.dataset.team for row in expected]
        assert found == expected
    for position, has_case in ((9, True), (10, False)):
        with django_assert_num_queries(1):
            team: Any = annotated_teams.first(dataset.uuid, position)
            assert (team.has_case, team.same) == (has_case, team.slug)
        assert team.get_deferred_fields() >= {"name"}
    assert annotated_teams.first(uuid.uuid4(), 1) is None


def test_times_and_ids_are_those_that_the_database_keeps(version: DatasetVersion) -> None:
    created = version.dataset.created_at
    assert version.dataset.name in created_until(created)
    assert created_until(created.replace(year=2000)) == []


def test_rows_are_apart_from_those_of_another_call(version: DatasetVersion) -> None:
    one, other = versions_of(version.dataset.uuid), versions_of(version.dataset.uuid)
    assert one == other
    assert one is not other
    assert one[0] is not other[0]


def test_a_number_too_large_for_any_column_is_nowhere(version: DatasetVersion) -> None:
    assert cases_by_key(2**80, ["q-1"]) == []


def test_an_argument_that_is_none_or_missing_is_refused(version: DatasetVersion) -> None:
    none: Any = None
    with pytest.raises(TypeError, match="None"):
        cases_by_key(none, [])
    with pytest.raises(TypeError, match="keys"):
        cases_by_key(version.pk)  # type: ignore[call-arg]


def test_a_time_that_would_stay_the_same_is_refused(version: DatasetVersion) -> None:
    for query in (older_versions, waived_versions):
        with pytest.raises(TypeError, match="make it an argument"):
            query(version.pk)


def test_prefetched_rows_are_refused(version: DatasetVersion) -> None:
    with pytest.raises(TypeError, match="prefetched"):
        prefetched_versions(version.pk)


@pytest.mark.django_db(transaction=True)
def test_threads_read_side_by_side(version: DatasetVersion) -> None:
    places = count()

    def read_often() -> bool:
        place = next(places)
        wanted = [(place + 1, KEYS[place])]
        return all(cases_by_key(version.pk, [KEYS[place]]) == wanted for _ in range(50))

    assert all(call_at_once(read_often))


@pytest.mark.django_db(transaction=True)
def test_each_thread_keeps_its_own_sql(version: DatasetVersion) -> None:
    cases_by_key(version.pk, ["q-1"])
    built.clear()
    call_at_once(lambda: cases_by_key(version.pk, ["q-2"]), times=1)
    cases_by_key(version.pk, ["q-3"])
    assert built == ["cases_by_key"]
