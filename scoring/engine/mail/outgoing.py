"""Sends the mail that waits: links to a new password and invitations.

A page stores what was typed, the same for every address, so that neither its answer nor its
duration tells who has an account, and no mail server holds it up.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.utils import timezone

from scoring.engine.mail import smtp
from scoring.engine.mail.messages import write_messages
from scoring.models import OutgoingMail

log = logging.getLogger(__name__)

#: A try that takes longer was cut short, and is made again.
CLAIM_SECONDS: Final = 60
#: After each failure; one failure more is the end.
PAUSES_SECONDS: Final = (10, 60, 300, 1_800, 7_200)


def send_mail(mail: OutgoingMail) -> bool:
    """Try once, unless another worker does; False then."""
    if not _claim(mail):
        return False
    try:
        for message in write_messages(mail):
            smtp.send(message)
    except smtp.MailError as fault:
        _fail(mail, str(fault))
    except Exception as fault:
        log.exception("%s could not be made", mail)
        _fail(mail, f"it failed with {type(fault).__name__}")
    else:
        OutgoingMail.objects.filter(pk=mail.pk).delete()
    return True


def _claim(mail: OutgoingMail) -> bool:
    until, tries = timezone.now() + timedelta(seconds=CLAIM_SECONDS), mail.try_count + 1
    unclaimed = OutgoingMail.objects.filter(pk=mail.pk, next_try_at=mail.next_try_at)
    if not unclaimed.update(next_try_at=until, try_count=tries):
        return False
    mail.next_try_at, mail.try_count = until, tries
    return True


def _fail(mail: OutgoingMail, error: str) -> None:
    """Store why, and try again later unless that was the last try."""
    if mail.try_count > len(PAUSES_SECONDS):
        log.error("%s was given up: %s", mail, error)
        next_try_at = None
    else:
        log.warning("%s was not sent: %s", mail, error)
        pause = timedelta(seconds=PAUSES_SECONDS[mail.try_count - 1])
        next_try_at = timezone.now() + pause
    OutgoingMail.objects.filter(pk=mail.pk).update(error=error, next_try_at=next_try_at)
