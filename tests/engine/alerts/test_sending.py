"""Messages: sent once, tried again while they fail, and never dropped without a word."""

from __future__ import annotations

import json
import logging
import smtplib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.urls import resolve
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.alerts import mail, sending, telling
from scoring.engine.alerts.problem import SendError
from scoring.models import Alert, AlertDelivery, AlertRule, AuditEntry, Event, User
from tests.engine.alerts.conftest import MakeRule, run_of
from tests.engine.alerts.hook import Receiver, is_signed
from tests.engine.conftest import ROOT

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
    telling.tell(alert, event, timezone.now())
    return alert


def waiting() -> list[AlertDelivery]:
    return list(AlertDelivery.objects.due())


def pass_time(delivery: AlertDelivery) -> None:
    """Until its next try is due."""
    AlertDelivery.objects.filter(pk=delivery.pk).update(next_try_at=timezone.now())


def test_a_webhook_is_sent_once_and_signed(receiver: Receiver, make_rule: MakeRule) -> None:
    rule = make_rule(webhook_url=receiver.url)
    alert = fire(rule)
    (delivery,) = waiting()
    assert sending.send(delivery)
    (sent,) = receiver.sent
    assert is_signed(sent, rule.secret())
    body = json.loads(sent.body)
    assert body["id"] == sent.headers["webhook-id"] == str(delivery.uuid)
    assert body["event"] == "alert.opened"
    assert body["alert"]["id"] == str(alert.uuid)
    assert body["rule"]["condition"] == "pass rate below 80\u202f%"
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries, delivery.error) == ("sent", 1, "")
    assert delivery.sent_at
    assert waiting() == []


def test_a_message_is_shaped_as_the_guide_says(receiver: Receiver, make_rule: MakeRule) -> None:
    def shape(told: Any) -> Any:
        return {name: shape(value) for name, value in told.items()} if isinstance(told, dict) else 0

    rule = make_rule(webhook_url=receiver.url)
    run = run_of(rule.dataset.versions.get(), 1, "p")
    fire(rule, run=run)
    sending.send(waiting()[0])
    guide = (ROOT / "docs/alerts.md").read_text()
    example = json.loads(guide.partition("```json")[2].partition("```")[0])
    assert shape(json.loads(receiver.sent[0].body)) == shape(example)


def test_a_failure_is_tried_again_with_growing_pauses_and_then_given_up(
    receiver: Receiver, make_rule: MakeRule, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.statuses = [500]
    fire(make_rule(webhook_url=receiver.url))
    pauses = []
    while due := waiting():
        before = timezone.now()
        sending.send(due[0])
        delivery = AlertDelivery.objects.get(channel="webhook")
        assert delivery.error == "it answered 500"
        if delivery.next_try_at:
            pauses.append(round((delivery.next_try_at - before).total_seconds(), -1))
            pass_time(delivery)
    assert pauses == [10, 60, 300, 1800, 7200, 21600]
    assert (delivery.state, delivery.tries) == ("failed", GIVEN_UP_AFTER)
    assert len({sent.headers["webhook-id"] for sent in receiver.sent}) == 1
    assert len({sent.body for sent in receiver.sent}) == 1
    assert "was given up: it answered 500" in caplog.text


def test_a_receiver_that_comes_back_is_told(receiver: Receiver, make_rule: MakeRule) -> None:
    receiver.statuses = [503, 200]
    fire(make_rule(webhook_url=receiver.url))
    sending.send(waiting()[0])
    pass_time(AlertDelivery.objects.get(channel="webhook"))
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="webhook")
    assert (delivery.state, delivery.tries, delivery.error) == ("sent", 2, "")


def test_of_two_workers_one_sends(receiver: Receiver, make_rule: MakeRule) -> None:
    fire(make_rule(webhook_url=receiver.url))
    both = [*waiting(), *waiting()]
    assert [sending.send(each) for each in both] == [True, False]
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
    assert sending.send(waiting()[0])
    assert len(receiver.sent) == 1


def test_whoever_comes_late_overwrites_nothing(receiver: Receiver, make_rule: MakeRule) -> None:
    fire(make_rule(webhook_url=receiver.url))
    (slow,) = waiting()
    sending._claim(slow)
    pass_time(slow)
    sending.send(waiting()[0])
    sending._fail(slow, "no answer")
    assert AlertDelivery.objects.get(channel="webhook").state == "sent"


def test_messages_of_an_older_webhook_are_not_sent_to_the_new_one(
    receiver: Receiver, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=receiver.url)
    fire(rule)
    rule.change(by=None, webhook_url=f"http://{receiver.host}/other")
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="webhook")
    assert (delivery.state, delivery.error) == ("failed", "the rule has another webhook now")
    assert receiver.sent == []


def test_a_secret_that_does_not_open_is_said(
    receiver: Receiver, make_rule: MakeRule, settings: Settings
) -> None:
    fire(make_rule(webhook_url=receiver.url))
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="webhook")
    assert (delivery.state, "make a new one" in delivery.error) == ("failed", True)
    assert receiver.sent == []


def test_neither_secret_nor_path_is_logged(
    receiver: Receiver, make_rule: MakeRule, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.statuses = [302]
    receiver.headers = {"Location": "https://169.254.169.254/"}
    rule = make_rule(webhook_url=f"http://{receiver.host}/T0/secret-path")
    fire(rule)
    sending.send(waiting()[0])
    assert AlertDelivery.objects.get(channel="webhook").state == "failed"
    said = caplog.text + json.dumps(list(AlertDelivery.objects.values("error", "message")))
    assert "secret-path" not in said
    assert rule.secret()[6:] not in caplog.text


@pytest.mark.usefixtures("mailing")
def test_a_mail_says_what_happened_and_where_to_look(make_rule: MakeRule, alice: User) -> None:
    rule = make_rule(emails=[alice.email])
    fire(rule)
    (delivery,) = waiting()
    sending.send(delivery)
    (sent,) = outbox.outbox
    assert sent.to == [alice.email]
    assert sent.subject == "Alert: pass rate below 80 %, Answers · a"
    assert "Answers · a: The mean is low." in sent.body
    drift = f"https://evals.example.org/datasets/{rule.dataset.uuid}/drift/"
    assert drift in str(sent.body)
    assert str(delivery.uuid) in sent.extra_headers["Message-ID"]
    delivery.refresh_from_db()
    assert delivery.state == "sent"


def test_without_a_mail_server_the_failure_says_so(
    make_rule: MakeRule, alice: User, settings: Settings
) -> None:
    settings.EVALSITE_MAIL_HOST = ""
    fire(make_rule(emails=[alice.email]))
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="email")
    assert (delivery.state, delivery.tries) == ("failed", 1)
    assert delivery.error.startswith("no mail is set up")
    assert outbox.outbox == []


@pytest.mark.usefixtures("mailing")
def test_who_left_the_team_after_it_fired_gets_no_mail(make_rule: MakeRule, bob: User) -> None:
    fire(make_rule(emails=[bob.email]))
    bob.memberships.get().delete()
    sending.send(waiting()[0])
    assert AlertDelivery.objects.get(channel="email").error == "the address is no member's any more"
    assert outbox.outbox == []


@pytest.mark.usefixtures("mailing")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ConnectionRefusedError(), "ConnectionRefusedError"),
        (TimeoutError(), "TimeoutError"),
        (smtplib.SMTPAuthenticationError(535, b"word123"), "SMTPAuthenticationError"),
        (smtplib.SMTPRecipientsRefused({}), "refused the address"),
    ],
)
def test_a_mail_server_that_fails_is_tried_again(
    make_rule: MakeRule,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    words: str,
) -> None:
    def fails(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(mail.EmailMessage, "send", fails)
    fire(make_rule(emails=[alice.email]))
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="email")
    assert delivery.state == "waiting"
    assert words in delivery.error
    assert "word123" not in delivery.error


@pytest.mark.usefixtures("mailing")
def test_no_name_breaks_a_mails_head(make_rule: MakeRule, alice: User) -> None:
    rule = make_rule(emails=[alice.email])
    rule.dataset.name = "Answers\r\nBcc: eve@example.org " + "x" * 200
    rule.dataset.save()
    fire(rule)
    sending.send(waiting()[0])
    (sent,) = outbox.outbox
    head = sent.message().as_string().partition("\n\n")[0]
    assert "\nBcc:" not in head
    assert len(sent.subject) == mail.SUBJECT_CHARS


def test_a_fault_of_ours_is_a_failure_like_any(
    make_rule: MakeRule,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(sending.webhook, "send", fails)
    fire(make_rule(webhook_url=receiver.url))
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="webhook")
    assert (delivery.state, delivery.error) == ("waiting", "it failed with ZeroDivisionError")
    assert "could not be sent" in caplog.text


@pytest.mark.usefixtures("mailing")
def test_a_test_goes_to_webhook_and_mail_and_is_audited(
    make_rule: MakeRule, receiver: Receiver, alice: User
) -> None:
    rule = make_rule(webhook_url=receiver.url, emails=[alice.email])
    made = telling.send_test(rule, by=alice)
    assert [(each.channel, each.event, each.alert) for each in made] == [
        ("webhook", "test", None),
        ("email", "test", None),
    ]
    for delivery in waiting():
        sending.send(delivery)
    assert json.loads(receiver.sent[0].body)["event"] == "alert.test"
    assert outbox.outbox[0].subject.startswith("Test: ")
    assert set(rule.deliveries.values_list("state")) == {("sent",)}
    assert AuditEntry.objects.filter(action="alert_rule.tested", actor=alice).count() == 1


@pytest.mark.parametrize(
    ("path", "name"), [(telling.RUN_PATH, "run"), (telling.DRIFT_PATH, "dataset_drift")]
)
def test_messages_link_to_pages_that_are_there(path: str, name: str) -> None:
    assert resolve(path.format("0190a5c4-0000-7000-8000-000000000000")).url_name == name


@pytest.mark.parametrize("final", [True, False])
def test_a_refusal_for_good_is_not_tried_again(
    make_rule: MakeRule, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, final: bool
) -> None:
    def refuses(*_: Any) -> None:
        raise SendError("no" * 200, is_final=final)

    monkeypatch.setattr(sending.webhook, "send", refuses)
    fire(make_rule(webhook_url=receiver.url))
    sending.send(waiting()[0])
    delivery = AlertDelivery.objects.get(channel="webhook")
    assert delivery.state == ("failed" if final else "waiting")
    assert len(delivery.error) == sending.ERROR_CHARS
