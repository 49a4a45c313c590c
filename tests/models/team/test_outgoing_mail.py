from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import OutgoingMail

pytestmark = pytest.mark.django_db


def test_the_longest_waiting_is_sent_first() -> None:
    now = timezone.now()
    ages = (1, 3, 2)
    made = [
        OutgoingMail.objects.create(address="a@example.org", next_try_at=now - timedelta(hours=age))
        for age in ages
    ]
    OutgoingMail.objects.create(address="a@example.org", next_try_at=now + timedelta(hours=1))
    OutgoingMail.objects.create(address="a@example.org", next_try_at=None)
    assert list(OutgoingMail.objects.due()) == [made[1], made[2], made[0]]


@pytest.mark.parametrize(("days", "is_kept"), [(6, True), (8, False)])
def test_old_ones_are_forgotten(days: int, is_kept: bool) -> None:
    OutgoingMail.objects.create(address="a@example.org")
    OutgoingMail.objects.update(created_at=timezone.now() - timedelta(days=days))
    OutgoingMail.objects.delete_old()
    assert OutgoingMail.objects.exists() is is_kept
