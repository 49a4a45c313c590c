from __future__ import annotations

import pytest
from django.core import mail
from django.db import OperationalError

from scoring.engine.mail import runner
from scoring.engine.mail.runner import MailRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import OutgoingMail, User

pytestmark = pytest.mark.django_db
LINK = "https://evals.example.org/UID-KEY/"


def test_what_is_due_is_sent_a_few_at_a_time(alice: User) -> None:
    for _ in range(3):
        OutgoingMail.objects.create(address=alice.email, link=LINK)
    work = MailRunner(InlineExecutor())
    work.step()
    assert len(mail.outbox) == runner.MAX_CONCURRENT
    work.step()
    work.stop()
    assert len(mail.outbox) == 3


def test_a_mail_that_waits_for_its_next_try_is_left(alice: User) -> None:
    OutgoingMail.objects.create(address=alice.email, link=LINK, next_try_at=None)
    MailRunner(InlineExecutor()).step()
    assert mail.outbox == []


def test_a_database_that_fails_stops_no_worker(
    alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: OutgoingMail) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(runner, "send_mail", fail)
    OutgoingMail.objects.create(address=alice.email, link=LINK)
    work = MailRunner(InlineExecutor())
    work.step()
    work.step()
    assert "database is locked" in caplog.text
