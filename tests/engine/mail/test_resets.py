"""Mail for lost passwords: claimed by one worker, tried again, given up at last."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from scoring.engine.mail.resets import PAUSES_SECONDS, send_reset_mail
from scoring.models import ResetMail, User

pytestmark = pytest.mark.django_db
LINK = "https://evals.example.org/accounts/password/reset/key/UID-KEY/"


@pytest.fixture
def waiting(alice: User) -> ResetMail:
    return ResetMail.objects.create(address=alice.email.upper(), link=LINK)


def test_the_mail_goes_to_the_accounts_own_address(waiting: ResetMail, alice: User) -> None:
    assert send_reset_mail(waiting)
    (message,) = mail.outbox
    assert message.to == [alice.email]
    assert "https://evals.example.org/accounts/password/reset/key/" in message.body
    assert "UID-KEY" not in message.body
    assert not ResetMail.objects.exists()


@pytest.mark.parametrize("address", ["nobody@example.org", "left@example.org"])
def test_nobody_else_is_mailed(alice: User, address: str) -> None:
    User.objects.create_user("left@example.org", "a long word 7", is_active=False)
    assert send_reset_mail(ResetMail.objects.create(address=address, link=LINK))
    assert mail.outbox == []
    assert not ResetMail.objects.exists()


def test_two_workers_send_one_mail(waiting: ResetMail) -> None:
    other = ResetMail.objects.get()
    assert send_reset_mail(waiting)
    assert not send_reset_mail(other)
    assert len(mail.outbox) == 1


def test_it_is_tried_again_and_given_up_at_last(waiting: ResetMail) -> None:
    with patch.object(EmailBackend, "send_messages", side_effect=TimeoutError):
        for pause in PAUSES_SECONDS:
            now = timezone.now()
            assert send_reset_mail(ResetMail.objects.get())
            due = ResetMail.objects.get().next_try_at
            assert due is not None
            assert due - now >= timedelta(seconds=pause)
            ResetMail.objects.update(next_try_at=now)
        assert send_reset_mail(ResetMail.objects.get())
    kept = ResetMail.objects.get()
    assert kept.next_try_at is None
    assert kept.error == "the mail server could not be used (TimeoutError)"
    assert not ResetMail.objects.due().exists()


def test_a_mail_that_cannot_be_made_stops_no_worker(waiting: ResetMail) -> None:
    with patch("scoring.engine.mail.resets.EmailMessage", side_effect=ValueError("no")):
        assert send_reset_mail(waiting)
    assert ResetMail.objects.get().error == "it failed with ValueError"
