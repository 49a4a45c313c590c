"""A second factor as a person's app knows it."""

from __future__ import annotations

import re
import time

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client
from django.urls import reverse

from tests.conftest import PASSWORD

PERIOD = 30


def code_of(secret: str, steps: int = 0) -> str:
    """What the app shows now, or so many steps of half a minute later."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD + steps))


def confirm(client: Client) -> None:
    """Say the password again, as changes of how one signs in ask for."""
    answer = client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    assert answer.status_code == 302, answer.text


def set_up_app(client: Client) -> str:
    """The secret of an app that was just set up."""
    confirm(client)
    url = reverse("mfa_activate_totp")
    (secret,) = re.findall(r'id="totp-secret">([A-Z2-7]+)<', client.get(url).text)
    answer = client.post(url, {"code": code_of(secret)})
    assert answer.status_code == 302, answer.text
    return secret


def recovery_codes() -> list[str]:
    """Those of the only person who has any."""
    factor = Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES)
    codes: list[str] = factor.wrap().get_unused_codes()
    return codes
