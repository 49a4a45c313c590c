"""A message as a mail: what it says, its head, and a mail server that fails."""

from __future__ import annotations

import smtplib
from typing import Any

import pytest
from django.core import mail as outbox
from pytest_django.fixtures import Settings

from scoring.engine.alerts import delivery as sending
from scoring.engine.alerts import email as alert_email
from scoring.models import User
from tests.engine.alerts.test_delivery import fire, mailing, send_one, waiting
from tests.support.fixtures.alert_rules import MakeRule

__all__ = ["mailing"]


@pytest.mark.usefixtures("mailing")
def test_a_mail_says_what_happened_and_where_to_look(make_rule: MakeRule, alice: User) -> None:
    rule = make_rule(emails=[alice.email])
    fire(rule)
    (delivery,) = waiting()
    sending.deliver(delivery)
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
    delivery = send_one("email")
    assert (delivery.state, delivery.try_count) == ("failed", 1)
    assert delivery.error.startswith("no mail is set up")
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
    make_rule: MakeRule, alice: User, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    def fails(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(alert_email.EmailMessage, "send", fails)
    fire(make_rule(emails=[alice.email]))
    delivery = send_one("email")
    assert delivery.state == "waiting"
    assert words in delivery.error
    assert "word123" not in delivery.error


@pytest.mark.usefixtures("mailing")
def test_no_name_breaks_a_mails_head(make_rule: MakeRule, alice: User) -> None:
    rule = make_rule(emails=[alice.email])
    rule.dataset.name = "Answers\r\nBcc: eve@example.org ".ljust(120, "x")
    rule.dataset.save()
    fire(rule)
    sending.deliver(waiting()[0])
    (sent,) = outbox.outbox
    head = sent.message().as_string().partition("\n\n")[0]
    assert "\nBcc:" not in head
    assert len(sent.subject) == alert_email.SUBJECT_CHARS
