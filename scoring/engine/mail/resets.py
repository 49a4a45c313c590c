"""Mail for lost passwords, made and sent by the worker.

The page stores what was typed, the same for every address, so that neither its answer nor its
duration tells who has an account, and no mail server holds it up.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.core.mail import EmailMessage
from django.utils import timezone

from scoring.engine.mail import smtp
from scoring.models import ResetMail, User
from scoring.models.team.reset_mail import LINK_KEY

log = logging.getLogger(__name__)

#: A try that takes longer was cut short, and is made again.
CLAIM_SECONDS: Final = 60
#: After each failure; one failure more is the end.
PAUSES_SECONDS: Final = (10, 60, 300, 1_800, 7_200)
SUBJECT: Final = "A new password for Evalsite"
TEXT: Final = """\
Somebody, probably you, asked for a new password for {address}. Choose it here:

{link}

The link works once, within three days. If you did not ask for it, ignore this mail: your password
stays as it is.
"""


def send_reset_mail(mail: ResetMail) -> bool:
    """Try once, unless another worker does; False then. Nobody is mailed at an unknown address."""
    if not _claim(mail):
        return False
    try:
        for user in User.objects.filter(email__iexact=mail.address, is_active=True):
            smtp.send(_message(mail, user))
    except smtp.MailError as fault:
        _fail(mail, str(fault))
    except Exception as fault:
        log.exception("a mail for a lost password could not be made")
        _fail(mail, f"it failed with {type(fault).__name__}")
    else:
        ResetMail.objects.filter(pk=mail.pk).delete()
    return True


def _claim(mail: ResetMail) -> bool:
    until, tries = timezone.now() + timedelta(seconds=CLAIM_SECONDS), mail.try_count + 1
    unclaimed = ResetMail.objects.filter(pk=mail.pk, next_try_at=mail.next_try_at)
    if not unclaimed.update(next_try_at=until, try_count=tries):
        return False
    mail.next_try_at, mail.try_count = until, tries
    return True


def _fail(mail: ResetMail, error: str) -> None:
    """Store why, and try again later unless that was the last try."""
    if mail.try_count > len(PAUSES_SECONDS):
        log.error("a mail for a lost password was given up: %s", error)
        next_try_at = None
    else:
        log.warning("a mail for a lost password was not sent: %s", error)
        pause = timedelta(seconds=PAUSES_SECONDS[mail.try_count - 1])
        next_try_at = timezone.now() + pause
    ResetMail.objects.filter(pk=mail.pk).update(error=error, next_try_at=next_try_at)


def _message(mail: ResetMail, user: User) -> EmailMessage:
    from allauth.account.forms import default_token_generator
    from allauth.account.utils import user_pk_to_url_str

    key = f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"
    link = mail.link.replace(LINK_KEY, key)
    return EmailMessage(SUBJECT, TEXT.format(address=user.email, link=link), to=[user.email])
