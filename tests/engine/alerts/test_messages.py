"""Who is told of an alert, when, and when again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.alerts import evaluation, tick
from scoring.models import Alert, AlertDelivery, AlertRule, DatasetVersion, Notice, User
from tests.support.fixtures.alert_rules import (
    BAD,
    GOOD,
    UNKNOWN,
    MakeRule,
    open_alert,
    pass_time,
    sent_events,
    week,
)

HOUR = timedelta(hours=1)


def test_every_member_is_told_in_the_site_once_an_alert(
    version: DatasetVersion, alice: User, bob: User, charlie: User, firing_rule: AlertRule
) -> None:
    pass_time(25 * HOUR)
    tick()
    notices = Notice.objects.order_by("user__email")
    assert [notice.user for notice in notices] == [alice, bob]
    assert {notice.text for notice in notices} == {
        "Answers · a: The pass rate is 25.0\u202f% in w1 (n = 20), below 80\u202f%."
    }
    week(version, 2, GOOD)
    (notice,) = Notice.objects.unread_by(bob)
    said = "The pass rate is 100.0\u202f% in w2 (n = 20), not below 80\u202f%."
    assert notice.text == f"Answers · a: the alert is over. {said}"


def test_a_rule_that_is_not_shown_in_the_site_leaves_no_notice(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule(series="a", by_site=False, emails=[alice.email])
    week(version, 1, BAD)
    assert not Notice.objects.exists()
    assert list(AlertDelivery.objects.values_list("channel", "state")) == [("email", "waiting")]


@pytest.mark.parametrize(
    ("hours", "after", "events"),
    [
        (24, [23], ["opened"]),
        (24, [25], ["opened", "again"]),
        (24, [25, 20], ["opened", "again"]),
        (24, [25, 25], ["opened", "again", "again"]),
        (24, [25 * 30], ["opened", "again"]),
        (1, [2, 2, 2], ["opened", "again", "again", "again"]),
        (0, [24 * 300], ["opened"]),
    ],
)
def test_people_are_told_again_while_it_goes_on(
    version: DatasetVersion, make_rule: MakeRule, hours: int, after: list[int], events: list[str]
) -> None:
    make_rule(series="a", renotify_hours=hours)
    week(version, 1, BAD)
    for pause in after:
        pass_time(pause * HOUR)
        tick()
        tick()
    assert sent_events() == events


def test_an_acknowledged_alert_is_told_of_once_more_when_it_is_over(
    version: DatasetVersion, firing_rule: AlertRule, alice: User
) -> None:
    open_alert().acknowledge(by=alice)
    pass_time(100 * HOUR)
    tick()
    week(version, 2, BAD)
    assert sent_events() == ["opened"]
    week(version, 3, GOOD)
    assert sent_events() == ["opened", "resolved"]


def test_an_undecided_alert_is_told_once_and_anew_when_it_fires(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule(series="a")
    week(version, 1, UNKNOWN)
    open_alert().acknowledge(by=alice)
    pass_time(100 * HOUR)
    tick()
    assert sent_events() == ["opened"]
    week(version, 2, BAD)
    assert sent_events() == ["opened", "opened"]
    assert (open_alert().acknowledged_at, open_alert().remind_at is not None) == (None, True)


def test_another_pause_counts_from_the_last_telling(firing_rule: AlertRule) -> None:
    firing_rule.change(by=None, renotify_hours=2)
    alert = open_alert()
    assert alert.notified_at
    assert alert.remind_at == alert.notified_at + 2 * HOUR
    firing_rule.change(by=None, renotify_hours=0)
    assert open_alert().remind_at is None


def test_of_several_workers_one_tells_again(firing_rule: AlertRule) -> None:
    pass_time(25 * HOUR)
    alerts = [Alert.objects.select_related("rule__dataset__team").get() for _ in range(2)]
    now = timezone.now()
    assert [evaluation._repeat_notification(alert, now) for alert in alerts] == [True, False]
    assert sent_events() == ["opened", "again"]
