from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from scoring.models import Case
from scoring.models.bulk import ROWS_PER_STATEMENT, bulk_insert, gather_statistics
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db

COLUMNS = (
    "version_id",
    "position",
    "key",
    "input_json",
    "references_json",
    "metadata_json",
    "tags_json",
)


def rows(version_id: int, count: int) -> list[tuple[object, ...]]:
    return [(version_id, n, f"k{n}", '"100 %s"', "[]", "{}", "[]") for n in range(1, count + 1)]


@pytest.mark.parametrize("count", [0, 1, ROWS_PER_STATEMENT, 2 * ROWS_PER_STATEMENT + 3])
def test_every_row_arrives_once_and_unchanged(make_dataset: MakeDataset, count: int) -> None:
    version = make_dataset([])
    bulk_insert(Case, COLUMNS, rows(version.pk, count))
    stored = version.cases.values_list("position", "key", "input_json")
    assert list(stored) == [(n, f"k{n}", '"100 %s"') for n in range(1, count + 1)]


def test_a_taken_key_is_left_out_only_on_request(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "k2", "input": "mine"}])
    wanted = rows(version.pk, ROWS_PER_STATEMENT + 1)
    bulk_insert(Case, COLUMNS, wanted, ignore_existing=True)
    bulk_insert(Case, COLUMNS, wanted, ignore_existing=True)
    assert version.cases.count() == ROWS_PER_STATEMENT
    assert version.cases.get(key="k2").input == "mine"
    with pytest.raises(IntegrityError):
        bulk_insert(Case, COLUMNS, wanted)


@pytest.mark.postgresql
def test_statistics_know_the_rows_that_are_there(make_dataset: MakeDataset) -> None:
    version = make_dataset([])
    bulk_insert(Case, COLUMNS, rows(version.pk, 300))
    gather_statistics(Case)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'scoring_case'")
        assert cursor.fetchone() == (300,)


def test_what_the_database_refuses_is_an_error_of_djangos(make_dataset: MakeDataset) -> None:
    version = make_dataset([])
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk_insert(Case, COLUMNS, [(version.pk, None, "k", '""', "[]", "{}", "[]")])
    assert not version.cases.exists()
