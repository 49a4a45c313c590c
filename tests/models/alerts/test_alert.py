"""Alerts and what was told of them, as they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AuditEntry,
    Channel,
    DeliveryState,
    Event,
    Notice,
    User,
)
from scoring.models.alerts.alert import STATES
from tests.conftest import MakeDataset
from tests.support.undone import undone


@pytest.fixture
def rule(make_dataset: MakeDataset, alice: User) -> AlertRule:
    dataset = make_dataset([{"expected": "yes"}]).dataset
    made = AlertRule.objects.define(dataset.team, dataset, by=alice, kind="no_data", limit=1)
    return made.rule


def fire(rule: AlertRule, series: str = "a", **more: Any) -> Alert:
    return Alert.objects.create(rule=rule, series=series, sentence="No run for 2 days.", **more)


def delivery(rule: AlertRule, **more: Any) -> AlertDelivery:
    now = timezone.now()
    fields = {"channel": Channel.SITE, "event": Event.OPENED, "happened_at": now}
    return AlertDelivery.objects.create(rule=rule, **(fields | {"next_try_at": now} | more))


def test_only_one_alert_of_a_rule_and_series_goes_on(rule: AlertRule) -> None:
    first = fire(rule)
    fire(rule, series="b")
    with transaction.atomic(), pytest.raises(IntegrityError):
        fire(rule)
    Alert.objects.filter(pk=first.pk).update(resolved_at=timezone.now())
    fire(rule)
    assert Alert.objects.count() == 3


def test_each_state_has_its_alerts(rule: AlertRule) -> None:
    made = {
        "firing": fire(rule),
        "warning": fire(rule, series="d", state="warning"),
        "undecided": fire(rule, series="b", state="undecided"),
        "resolved": fire(rule, series="c", resolved_at=timezone.now()),
    }
    assert {state: Alert.objects.in_state(state).get() for state in STATES} == made
    assert {alert.standing: alert for alert in Alert.objects.all()} == made
    assert not Alert.objects.in_state("sometimes").exists()
    assert Alert.objects.unresolved().count() == 3
    assert set(Alert.objects.decided()) == {made["firing"], made["warning"]}


def test_the_list_shows_open_ones_first(
    rule: AlertRule, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    for series, days, is_over in (("old", 9, True), ("new", 1, True), ("open", 20, False)):
        when = now - timedelta(days=days)
        fire(rule, series=series, opened_at=when, resolved_at=when if is_over else None)
    with django_assert_num_queries(1):
        listed = list(Alert.objects.for_list())
        assert {f"{each.rule}{each.run}{each.acknowledged_by}" for each in listed}
    assert [alert.series for alert in listed] == ["open", "new", "old"]


def test_acknowledging_is_kept_once_and_audited(rule: AlertRule, alice: User, bob: User) -> None:
    alert = fire(rule, remind_at=timezone.now())
    alert.acknowledge(by=bob)
    assert (alert.acknowledged_by, alert.remind_at) == (bob, None)
    first = alert.acknowledged_at
    alert.acknowledge(by=alice)
    assert (alert.acknowledged_by, alert.acknowledged_at) == (bob, first)
    (entry,) = AuditEntry.objects.filter(action="alert.acknowledged")
    assert (entry.actor, entry.target_id, entry.team) == (bob, str(alert.uuid), rule.team)


def test_what_is_over_is_not_acknowledged(rule: AlertRule, alice: User) -> None:
    alert = fire(rule, resolved_at=timezone.now())
    with pytest.raises(ValidationError, match="is over"):
        alert.acknowledge(by=alice)
    assert not AuditEntry.objects.filter(action="alert.acknowledged").exists()


def test_alerts_hide_with_their_rule_and_from_strangers(
    rule: AlertRule, alice: User, bob: User, charlie: User
) -> None:
    alert = fire(rule)
    Notice.objects.create(user=bob, alert=alert, text=alert.sentence)
    assert list(Alert.objects.visible_to(bob)) == [alert]
    assert [notice.alert for notice in Notice.objects.unread_by(bob)] == [alert]
    assert not Alert.objects.visible_to(charlie).exists()
    rule.remove(by=alice)
    assert not Alert.objects.visible_to(bob).exists()
    assert not Notice.objects.unread_by(bob).exists()
    rule.restore(by=alice)
    assert Alert.objects.visible_to(bob).exists()


def test_what_happened_at_one_moment_is_told_once(rule: AlertRule) -> None:
    alert, now = fire(rule), timezone.now()
    once = {"alert": alert, "channel": Channel.EMAIL, "target": "a@example.org"}
    delivery(rule, **once, happened_at=now)
    delivery(rule, **once, happened_at=now + timedelta(hours=1))
    delivery(rule, **once | {"target": "b@example.org"}, happened_at=now)
    with transaction.atomic(), pytest.raises(IntegrityError):
        delivery(rule, **once, happened_at=now)


def test_only_what_waits_and_whose_time_has_come_is_due(rule: AlertRule) -> None:
    now = timezone.now()
    later = delivery(rule, next_try_at=now - timedelta(minutes=1))
    first = delivery(rule, next_try_at=now - timedelta(minutes=2))
    delivery(rule, next_try_at=now + timedelta(minutes=1))
    delivery(rule, state=DeliveryState.SENT, next_try_at=now)
    delivery(rule, state=DeliveryState.FAILED, next_try_at=None)
    assert list(AlertDelivery.objects.due()) == [first, later]


def test_of_a_webhook_the_host_and_its_end_are_shown(
    rule: AlertRule, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Channel, str, str]] = [
        (Channel.WEBHOOK, "hooks.example.org …path|0f1e2d3c4b5a6978", "hooks.example.org …path"),
        (Channel.WEBHOOK, "hooks.example.org|0f1e2d3c4b5a6978", "hooks.example.org"),
        (Channel.EMAIL, "bob|alice@example.org", "bob|alice@example.org"),
        (Channel.EMAIL, "bob@example.org", "bob@example.org"),
        (Channel.SITE, "", ""),
    ]
    for channel, target, shown in cases:
        with subtests.test(channel=channel, target=target, shown=shown), undone():
            assert delivery(rule, channel=channel, target=target).target_shown == shown
