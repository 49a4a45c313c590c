"""Limits of attempts: counted once each, whoever comes at the same time."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from scoring.engine.worker import main as worker_main
from scoring.models import AttemptCounter
from scoring.models.team.attempt_counter import (
    MAX_PER_ACCOUNT,
    Limit,
    TooManyAttemptsError,
    address_network,
    fold_account,
    limits_for,
)

THREE = Limit(("test", "alice"), attempts=3, seconds=60)
OTHER = Limit(("test", "bob"), attempts=100, seconds=60)


def is_let_through(*limits: Limit) -> bool:
    try:
        AttemptCounter.objects.take(limits)
    except TooManyAttemptsError:
        return False
    return True


def counts() -> dict[str, int]:
    return dict(AttemptCounter.objects.values_list("key", "count"))


def test_attempts_are_let_through_up_to_the_limit(db: None) -> None:
    assert [is_let_through(THREE) for _ in range(5)] == [True, True, True, False, False]


def test_a_refused_attempt_counts_nowhere(db: None) -> None:
    for _ in range(5):
        is_let_through(THREE, OTHER)
    assert counts() == {THREE.key: 3, OTHER.key: 3}


def test_the_wait_lasts_until_the_window_ends(db: None) -> None:
    for _ in range(3):
        AttemptCounter.objects.take([THREE])
    with pytest.raises(TooManyAttemptsError) as fault:
        AttemptCounter.objects.take([THREE])
    assert 58 <= fault.value.wait_seconds <= 60
    AttemptCounter.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert [is_let_through(THREE) for _ in range(4)] == [True, True, True, False]


def test_what_succeeded_is_given_back(db: None) -> None:
    AttemptCounter.objects.take([THREE])
    AttemptCounter.objects.give_back([THREE, OTHER])
    AttemptCounter.objects.give_back([THREE])
    assert counts() == {THREE.key: 0}


@pytest.mark.django_db(transaction=True)
def test_attempts_at_the_same_time_do_not_exceed_the_limit_together() -> None:
    start = threading.Barrier(8)
    passed: list[bool] = []

    def attempt() -> None:
        start.wait()
        try:
            passed.extend(is_let_through(THREE, OTHER) for _ in range(4))
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(passed), sum(passed)) == (32, 3)


def test_the_worker_clears_counters_that_expired(db: None) -> None:
    AttemptCounter.objects.take([THREE])
    AttemptCounter.objects.take([OTHER])
    AttemptCounter.objects.filter(key=OTHER.key).update(expires_at=timezone.now())
    worker_main.clean_up()
    assert set(counts()) == {THREE.key}


def test_a_row_tells_neither_account_nor_address(db: None) -> None:
    AttemptCounter.objects.take(limits_for("password", "alice@example.org", "192.0.2.7"))
    kept = str(list(AttemptCounter.objects.values()))
    assert "alice" not in kept
    assert "192.0.2.7" not in kept


@pytest.mark.parametrize(
    "spelling", ["Alice@Example.org", " alice@example.org ", "\uff41lice@example.org"]
)
def test_spellings_of_one_account_share_a_counter(spelling: str) -> None:
    assert fold_account(spelling) == fold_account("alice@example.org")


def test_letters_that_a_database_takes_for_others_do_too() -> None:
    assert fold_account("jo\u017fe@example.org") == fold_account("JOSE@example.org")
    assert fold_account("kim@example.org") == fold_account("\u212aim@example.org")


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("", ""),
    ],
)
def test_one_persons_addresses_share_a_counter(address: str, counted: str) -> None:
    assert address_network(address) == counted


def test_an_account_has_no_limit_apart_from_an_address() -> None:
    here, there = (limits_for("password", "a@example.org", ip) for ip in ("192.0.2.7", "192.0.2.8"))
    assert {limit.key for limit in here}.isdisjoint(limit.key for limit in there)
    assert [limit.attempts for limit in here] == [MAX_PER_ACCOUNT, 100]
