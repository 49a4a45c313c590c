"""A new address is set for the person who asked, as long as they are as they were."""

from __future__ import annotations

from functools import partial

import pytest

from scoring.models import User
from scoring.models.team.address_change import address_key, change_address, read_address_key
from scoring.models.team.audit_entry import AuditQuerySet
from tests.support.concurrency import call_all_at_once, wait_for_all

NEW = "robert@example.org"


def test_a_key_tells_the_person_and_the_address(bob: User) -> None:
    assert read_address_key(address_key(bob, NEW)) == (bob, NEW)


def test_it_ends_with_the_account_and_with_the_old_address(bob: User) -> None:
    key = address_key(bob, NEW)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert read_address_key(key) is None
    User.objects.filter(pk=bob.pk).update(is_active=True, email="other@example.org")
    assert read_address_key(key) is None


def test_it_ends_with_the_password_and_the_sessions(bob: User) -> None:
    """Whoever had both may have asked for it."""
    key = address_key(bob, NEW)
    bob.set_password("quite another phrase")
    bob.save()
    assert read_address_key(key) is None
    key = address_key(bob, NEW)
    bob.end_sessions()
    assert read_address_key(key) is None


def test_of_two_links_one_is_used(bob: User) -> None:
    seen = User.objects.get(pk=bob.pk)
    assert change_address(bob, NEW)
    assert not change_address(seen, "rob@example.org")
    bob.refresh_from_db()
    assert bob.email == NEW


@pytest.mark.django_db(transaction=True)
def test_of_two_people_one_gets_the_address(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuditQuerySet, "record", wait_for_all(AuditQuerySet.record, 2))
    acts = [partial(change_address, person, NEW) for person in (alice, bob)]
    assert sorted(call_all_at_once(acts)) == [False, True]
    assert User.objects.filter(email=NEW).count() == 1
