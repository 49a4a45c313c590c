"""Notices are for people who still see what they tell of."""

from __future__ import annotations

from scoring.models import AlertRule, Notice, User
from tests.models.alerts.test_alert import fire, rule

__all__ = ["rule"]


def test_a_notice_of_an_alert_is_gone_with_the_membership(
    rule: AlertRule, bob: User, charlie: User
) -> None:
    alert = fire(rule)
    for person in (bob, charlie):
        Notice.objects.create(user=person, alert=alert, text=alert.sentence)
    assert Notice.objects.unread_by(bob).count() == 1
    assert Notice.objects.unread_by(charlie).count() == 0
