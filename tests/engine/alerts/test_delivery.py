"""Messages: sent once, tried again while they fail, and never dropped without a word."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.urls import resolve
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.alerts import delivery as sending
from scoring.engine.alerts import messages
from scoring.models import Alert, AlertDelivery, AlertRule, AuditEntry, Event, User
from tests.engine.alerts.webhook_receiver import Receiver, is_signed
from tests.support.fixtures.alert_rules import MakeRule, run_of
from tests.support.paths import ROOT

GIVEN_UP_AFTER = len(sending.PAUSES_SECONDS) + 1


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    with Receiver() as running:
        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({running.host})
        yield running


@pytest.fixture
def mailing(settings: Settings) -> None:
    settings.EVALSITE_MAIL_HOST = "mail.example.org"
    settings.EVALSITE_URL = "https://evals.example.org"


def fire(rule: AlertRule, event: Event = Event.OPENED, **more: Any) -> Alert:
    alert = Alert.objects.create(rule=rule, series="a", sentence="The mean is low.", **more)
    messages.notify(alert, event, timezone.now())
    return alert


def waiting() -> list[AlertDelivery]:
    return list(AlertDelivery.objects.due())


def send_one(channel: str = "webhook") -> AlertDelivery:
    """Try the message that waits; its row after that."""
    assert sending.deliver(waiting()[0])
    return AlertDelivery.objects.get(channel=channel)


def pass_time(delivery: AlertDelivery) -> None:
    """Until its next try is due."""
    AlertDelivery.objects.filter(pk=delivery.pk).update(next_try_at=timezone.now())


def test_a_webhook_is_sent_once_and_signed(receiver: Receiver, make_rule: MakeRule) -> None:
    rule = make_rule(webhook_url=receiver.url)
    alert = fire(rule)
    (delivery,) = waiting()
    assert sending.deliver(delivery)
    (sent,) = receiver.sent
    assert is_signed(sent, rule.secret())
    body = json.loads(sent.body)
    assert body["id"] == sent.headers["webhook-id"] == str(delivery.uuid)
    assert body["event"] == "alert.opened"
    assert body["alert"]["id"] == str(alert.uuid)
    assert body["rule"]["condition"] == "pass rate below 80\u202f%"
    delivery.refresh_from_db()
    assert (delivery.state, delivery.try_count, delivery.error) == ("sent", 1, "")
    assert delivery.sent_at
    assert waiting() == []


def test_a_message_is_shaped_as_the_guide_says(receiver: Receiver, make_rule: MakeRule) -> None:
    def shape(told: Any) -> Any:
        return {name: shape(value) for name, value in told.items()} if isinstance(told, dict) else 0

    rule = make_rule(webhook_url=receiver.url)
    run = run_of(rule.dataset.versions.get(), 1, "p")
    fire(rule, run=run)
    sending.deliver(waiting()[0])
    guide = (ROOT / "docs/alerts.md").read_text()
    example = json.loads(guide.partition("```json")[2].partition("```")[0])
    assert shape(json.loads(receiver.sent[0].body)) == shape(example)


def test_a_failure_is_tried_again_with_growing_pauses_and_then_given_up(
    receiver: Receiver, make_rule: MakeRule, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.statuses = [500]
    fire(make_rule(webhook_url=receiver.url))
    pauses = []
    while waiting():
        before = timezone.now()
        delivery = send_one()
        assert delivery.error == "it answered 500"
        if delivery.next_try_at:
            pauses.append(round((delivery.next_try_at - before).total_seconds(), -1))
            pass_time(delivery)
    assert pauses == [10, 60, 300, 1800, 7200, 21600]
    assert (delivery.state, delivery.try_count) == ("failed", GIVEN_UP_AFTER)
    assert len({sent.headers["webhook-id"] for sent in receiver.sent}) == 1
    assert len({sent.body for sent in receiver.sent}) == 1
    assert "was given up: it answered 500" in caplog.text


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("json", {"id", "event", "at", "text", "team", "dataset", "series", "rule", "alert", "run"}
         | {"baseline", "url"}),
        ("slack", {"text", "blocks"}),
        ("teams", {"type", "attachments"}),
    ],
)  # fmt: skip
def test_a_message_comes_in_the_format_of_the_rule(
    receiver: Receiver, make_rule: MakeRule, form: str, names: set[str]
) -> None:
    rule = make_rule(webhook_url=receiver.url, webhook_format=form)
    fire(rule)
    assert send_one().state == "sent"
    (sent,) = receiver.sent
    body = json.loads(sent.body)
    assert set(body) == names
    assert "The mean is low." in json.dumps(body)
    assert is_signed(sent, rule.secret())


def test_a_rule_of_another_format_sends_what_waits_in_that(
    receiver: Receiver, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=receiver.url)
    fire(rule)
    rule.change(by=None, webhook_format="teams")
    send_one()
    assert json.loads(receiver.sent[0].body)["type"] == "message"
    new = AuditEntry.objects.filter(action="alert_rule.changed").latest("pk").new
    assert new["webhook_format"] == "teams"


def test_a_receiver_that_comes_back_is_told(receiver: Receiver, make_rule: MakeRule) -> None:
    receiver.statuses = [503, 200]
    fire(make_rule(webhook_url=receiver.url))
    pass_time(send_one())
    delivery = send_one()
    assert (delivery.state, delivery.try_count, delivery.error) == ("sent", 2, "")


def test_of_two_workers_one_sends(receiver: Receiver, make_rule: MakeRule) -> None:
    fire(make_rule(webhook_url=receiver.url))
    both = [*waiting(), *waiting()]
    assert [sending.deliver(delivery) for delivery in both] == [True, False]
    assert len(receiver.sent) == 1


def test_a_try_that_was_cut_short_is_made_again(receiver: Receiver, make_rule: MakeRule) -> None:
    fire(make_rule(webhook_url=receiver.url))
    (delivery,) = waiting()
    assert sending._claim(delivery)
    assert waiting() == []
    left = delivery.next_try_at
    assert left
    assert timedelta(seconds=50) < left - timezone.now() < timedelta(seconds=61)
    pass_time(delivery)
    assert sending.deliver(waiting()[0])
    assert len(receiver.sent) == 1


def test_whoever_comes_late_overwrites_nothing(receiver: Receiver, make_rule: MakeRule) -> None:
    fire(make_rule(webhook_url=receiver.url))
    (slow,) = waiting()
    sending._claim(slow)
    pass_time(slow)
    sending.deliver(waiting()[0])
    sending._fail(slow, "no answer")
    assert AlertDelivery.objects.get(channel="webhook").state == "sent"


def test_messages_of_an_older_webhook_are_not_sent_to_the_new_one(
    receiver: Receiver, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=receiver.url)
    fire(rule)
    rule.change(by=None, webhook_url=f"http://{receiver.host}/other")
    delivery = send_one()
    assert (delivery.state, delivery.error) == ("failed", "the rule has another webhook now")
    assert receiver.sent == []


def test_a_secret_that_does_not_open_is_said(
    receiver: Receiver, make_rule: MakeRule, settings: Settings
) -> None:
    fire(make_rule(webhook_url=receiver.url))
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    delivery = send_one()
    assert (delivery.state, "type its URL again" in delivery.error) == ("failed", True)
    assert receiver.sent == []


def test_neither_secret_nor_path_is_logged(
    receiver: Receiver, make_rule: MakeRule, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.statuses = [302]
    receiver.headers = {"Location": "https://169.254.169.254/"}
    rule = make_rule(webhook_url=f"http://{receiver.host}/T0/secret-path")
    fire(rule)
    assert send_one().state == "failed"
    stored = json.dumps(list(AlertDelivery.objects.values("error", "message")))
    assert "secret-path" not in caplog.text + stored
    assert rule.secret()[6:] not in caplog.text


@pytest.mark.usefixtures("mailing")
def test_who_left_the_team_after_it_fired_gets_no_mail(
    make_rule: MakeRule, alice: User, bob: User
) -> None:
    fire(make_rule(emails=[alice.email, bob.email]))
    bob.memberships.get().delete()
    for delivery in waiting():
        sending.deliver(delivery)
    errors = AlertDelivery.objects.filter(channel="email").values_list("target", "error")
    assert dict(errors) == {alice.email: "", bob.email: "the address is no member's any more"}
    assert [mail.to for mail in outbox.outbox] == [[alice.email]]


@pytest.mark.usefixtures("mailing")
def test_a_test_goes_to_webhook_and_mail_and_is_audited(
    make_rule: MakeRule, receiver: Receiver, alice: User
) -> None:
    rule = make_rule(webhook_url=receiver.url, emails=[alice.email])
    made = messages.queue_test_message(rule, by=alice)
    assert [(each.channel, each.event, each.alert) for each in made] == [
        ("webhook", "test", None),
        ("email", "test", None),
    ]
    for delivery in waiting():
        sending.deliver(delivery)
    assert json.loads(receiver.sent[0].body)["event"] == "alert.test"
    assert outbox.outbox[0].subject.startswith("Test: ")
    assert set(rule.deliveries.values_list("state")) == {("sent",)}
    assert AuditEntry.objects.by(alice).filter(action="alert_rule.tested").count() == 1


@pytest.mark.parametrize(
    ("path", "name"), [(messages.RUN_PATH, "run"), (messages.DRIFT_PATH, "dataset_drift")]
)
def test_messages_link_to_pages_that_are_there(path: str, name: str) -> None:
    assert resolve(path.format("0190a5c4-0000-7000-8000-000000000000")).url_name == name
