"""Signing in, and being locked out, from an address."""

from __future__ import annotations

from typing import Any

from django.test import Client

from scoring.engine.mail.outgoing import send_mail
from scoring.models import OutgoingMail
from scoring.models.team.attempt_counter import MAX_PER_ACCOUNT

SIGN_IN = "/accounts/login/"


def sign_in(email: str, password: str = "wrong", ip: str = "192.0.2.1", **more: Any) -> Any:
    """The answer to a visitor without cookies."""
    given = {"login": email, "password": password}
    return Client().post(more.pop("url", SIGN_IN), given, REMOTE_ADDR=ip, **more)


def lock(email: str, ip: str = "192.0.2.1") -> None:
    for _ in range(MAX_PER_ACCOUNT):
        sign_in(email, ip=ip)


def send_waiting_mail() -> None:
    """Send what waits for the worker."""
    for waiting in OutgoingMail.objects.due():
        send_mail(waiting)
