"""Of requests with one key, one does the work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.models import IdempotencyKey, Team, User
from scoring.models.team.idempotency_key import (
    ABANDONED_AFTER,
    RETENTION,
    IdempotencyKeyQuerySet,
    LostClaimError,
)


@pytest.fixture
def first(team: Team, alice: User) -> IdempotencyKey:
    claimed, is_mine = claim(team, alice)
    assert is_mine
    return claimed


def claim(team: Team, user: User, **changed: str) -> tuple[IdempotencyKey, bool]:
    asked = {"path": "/api/v1/runs/", "key": "k-1", "digest": "d" * 64} | changed
    return IdempotencyKey.objects.claim(team, user, **asked)


def age(claimed: IdempotencyKey, by: timedelta) -> None:
    IdempotencyKey.objects.filter(pk=claimed.pk).update(claimed_at=timezone.now() - by)


def test_a_second_claim_is_not_the_callers_work(
    first: IdempotencyKey, team: Team, alice: User
) -> None:
    again, is_mine = claim(team, alice)
    assert (again, is_mine) == (first, False)


@pytest.mark.parametrize("changed", [{"path": "/api/v1/suites/"}, {"key": "k-2"}])
def test_another_path_or_key_is_another_claim(
    first: IdempotencyKey, team: Team, alice: User, changed: dict[str, str]
) -> None:
    other, is_mine = claim(team, alice, **changed)
    assert is_mine
    assert other != first


def test_people_and_teams_do_not_share_keys(
    first: IdempotencyKey, team: Team, alice: User, bob: User
) -> None:
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    assert claim(team, bob)[1]
    assert claim(elsewhere, alice)[1]


def test_the_kept_answer_comes_back(first: IdempotencyKey, team: Team, alice: User) -> None:
    first.keep(201, {"id": "x"})
    again, is_mine = claim(team, alice)
    assert (again.status, again.body, is_mine) == (201, {"id": "x"}, False)


def test_a_released_key_may_be_claimed_again(
    first: IdempotencyKey, team: Team, alice: User
) -> None:
    first.release()
    assert claim(team, alice)[1]


def test_an_answered_key_stays_even_when_released(first: IdempotencyKey) -> None:
    first.keep(201, {})
    first.release()
    assert IdempotencyKey.objects.filter(pk=first.pk).exists()


def test_an_abandoned_claim_is_taken_over_once(
    first: IdempotencyKey, team: Team, alice: User
) -> None:
    age(first, ABANDONED_AFTER + timedelta(seconds=1))
    assert claim(team, alice)[1]
    assert not claim(team, alice)[1]


def test_another_body_never_takes_over(first: IdempotencyKey, team: Team, alice: User) -> None:
    age(first, ABANDONED_AFTER * 2)
    assert not claim(team, alice, digest="e" * 64)[1]


def test_whoever_lost_the_claim_cannot_keep_an_answer(
    first: IdempotencyKey, team: Team, alice: User
) -> None:
    age(first, ABANDONED_AFTER * 2)
    second, _ = claim(team, alice)
    with pytest.raises(LostClaimError):
        first.keep(201, {"by": "first"})
    first.release()
    second.keep(201, {"by": "second"})
    assert IdempotencyKey.objects.get().body == {"by": "second"}


def test_only_old_keys_are_forgotten(first: IdempotencyKey, team: Team, alice: User) -> None:
    young, _ = claim(team, alice, key="k-2")
    age(first, RETENTION + timedelta(seconds=1))
    IdempotencyKey.objects.delete_expired()
    assert IdempotencyKey.objects.get() == young


def test_a_key_that_is_released_in_that_moment_is_claimed(
    first: IdempotencyKey, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_late(rows: IdempotencyKeyQuerySet, **fields: Any) -> IdempotencyKeyQuerySet:
        monkeypatch.undo()
        first.release()
        return rows.filter(**fields)

    monkeypatch.setattr(IdempotencyKeyQuerySet, "filter", read_late)
    assert claim(team, alice)[1]
