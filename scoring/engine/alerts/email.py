"""Sends one message by e-mail, where the site can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.utils import DNS_NAME

from scoring.core.names import as_one_line
from scoring.engine.alerts.errors import SendError
from scoring.engine.mail import smtp

NO_MAIL: Final = "no mail is set up on this site (EVALSITE_MAIL_HOST)"
SUBJECTS: Final = {
    "alert.opened": "Alert",
    "alert.again": "Still firing",
    "alert.resolved": "Over",
    "alert.test": "Test",
}
SUBJECT_CHARS: Final = 150


def is_configured() -> bool:
    """Whether the site can send mail."""
    return bool(settings.EVALSITE_MAIL_HOST)


def send_email(address: str, event_id: str, message: Mapping[str, Any]) -> None:
    """One mail, whose id is the event's: a repeated one is known by it. Raises SendError."""
    if not is_configured():
        raise SendError(NO_MAIL, is_final=True)
    mail = EmailMessage(
        subject=_subject(message),
        body=_body(message),
        to=[address],
        headers={"Message-ID": f"<{event_id}@{DNS_NAME}>"},
    )
    try:
        smtp.send(mail)
    except smtp.MailError as fault:
        raise SendError(str(fault)) from None


def _subject(message: Mapping[str, Any]) -> str:
    rule, words = message["rule"], SUBJECTS[message["event"]]
    where = " · ".join(part for part in (message["dataset"]["name"], message["series"]) if part)
    line = as_one_line(f"{words}: {rule['condition']}, {where}")  # no line ends in a header
    return line if len(line) <= SUBJECT_CHARS else f"{line[: SUBJECT_CHARS - 1]}…"


def _body(message: Mapping[str, Any]) -> str:
    run = message["run"]
    lines = [as_one_line(message["text"]), "", f"Drift: {message['url']}"]
    lines += [f"Run {as_one_line(run['name'])}: {run['url']}"] if run else []
    return "\n".join([*lines, "", f"Sent by Evalsite for the team {message['team']}."])
