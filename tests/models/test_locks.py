"""A lock keeps others from changing a row, and from nothing else."""

from __future__ import annotations

from functools import partial
from threading import Event

import pytest
from django.db import transaction

from scoring.models import Dataset, Team
from scoring.models.locks import lock_name, lock_row
from tests.support.concurrency import call_all_at_once

SECONDS = 10


def test_the_fields_are_read_anew(team: Team) -> None:
    Team.objects.filter(pk=team.pk).update(name="Renamed", slug="renamed")
    with transaction.atomic():
        lock_row(team, "name")
    assert (team.name, team.slug) == ("Renamed", "support")
    with transaction.atomic():
        lock_row(team)
    assert team.slug == "renamed"


def test_a_row_that_is_gone_cannot_be_locked(team: Team) -> None:
    row = Dataset.objects.create(team=team, name="Answers")
    Dataset.objects.all().delete()
    with transaction.atomic(), pytest.raises(Dataset.DoesNotExist):
        lock_row(row, "name")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_locked_row_gets_rows_of_its_own_all_the_same(team: Team) -> None:
    """A team's run would wait for its name to be changed else."""
    is_locked, is_added = Event(), Event()

    def lock() -> bool:
        with transaction.atomic():
            lock_row(team, "name")
            is_locked.set()
            return is_added.wait(SECONDS)

    def add() -> bool:
        is_locked.wait(SECONDS)
        Dataset.objects.create(team=team, name="Answers")
        is_added.set()
        return True

    assert call_all_at_once([lock, add]) == [True, True]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("other", "is_free"), [(("job", "a"), False), (("job", "b"), True), (("audit", "a"), True)]
)
def test_a_name_is_locked_for_its_kind(other: tuple[str, str], is_free: bool) -> None:
    is_locked, is_passed = Event(), Event()
    waits = SECONDS if is_free else 0.3

    def lock() -> bool:
        with transaction.atomic():
            lock_name("job", "a")
            is_locked.set()
            return is_passed.wait(waits)

    def take(kind: str, name: str) -> bool:
        is_locked.wait(SECONDS)
        with transaction.atomic():
            lock_name(kind, name)
            is_passed.set()
        return True

    assert call_all_at_once([lock, partial(take, *other)]) == [is_free, True]
