"""Mail for lost passwords: claimed by one worker, tried again, given up at last."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from scoring.engine.mail.outgoing import PAUSES_SECONDS, send_mail
from scoring.models import OutgoingMail, User

pytestmark = pytest.mark.django_db
LINK = "https://evals.example.org/accounts/password/reset/key/UID-KEY/"


@pytest.fixture
def waiting(alice: User) -> OutgoingMail:
    return OutgoingMail.objects.create(address=alice.email.upper(), link=LINK)


def test_the_mail_goes_to_the_accounts_own_address(waiting: OutgoingMail, alice: User) -> None:
    assert send_mail(waiting)
    (message,) = mail.outbox
    assert message.to == [alice.email]
    assert "https://evals.example.org/accounts/password/reset/key/" in message.body
    assert "UID-KEY" not in message.body
    assert not OutgoingMail.objects.exists()


@pytest.mark.parametrize("address", ["nobody@example.org", "left@example.org"])
def test_nobody_else_is_mailed(alice: User, address: str) -> None:
    User.objects.create_user("left@example.org", "a long word 7", is_active=False)
    assert send_mail(OutgoingMail.objects.create(address=address, link=LINK))
    assert mail.outbox == []
    assert not OutgoingMail.objects.exists()


def test_two_workers_send_one_mail(waiting: OutgoingMail) -> None:
    other = OutgoingMail.objects.get()
    assert send_mail(waiting)
    assert not send_mail(other)
    assert len(mail.outbox) == 1


def test_it_is_tried_again_and_given_up_at_last(waiting: OutgoingMail) -> None:
    with patch.object(EmailBackend, "send_messages", side_effect=TimeoutError):
        for pause in PAUSES_SECONDS:
            now = timezone.now()
            assert send_mail(OutgoingMail.objects.get())
            due = OutgoingMail.objects.get().next_try_at
            assert due is not None
            assert due - now >= timedelta(seconds=pause)
            OutgoingMail.objects.update(next_try_at=now)
        assert send_mail(OutgoingMail.objects.get())
    kept = OutgoingMail.objects.get()
    assert kept.next_try_at is None
    assert kept.error == "the mail server could not be used (TimeoutError)"
    assert not OutgoingMail.objects.due().exists()


def test_a_mail_that_cannot_be_made_stops_no_worker(waiting: OutgoingMail) -> None:
    with patch("scoring.engine.mail.messages.EmailMessage", side_effect=ValueError("no")):
        assert send_mail(waiting)
    assert OutgoingMail.objects.get().error == "it failed with ValueError"
