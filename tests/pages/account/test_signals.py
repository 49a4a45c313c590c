"""Second factors are audited and sessions listed, whoever brings it about."""

from __future__ import annotations

import subprocess
import sys

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_in
from django.test import RequestFactory

from scoring.models import AuditEntry, User
from tests.support.paths import ROOT


def test_what_no_request_changes_is_recorded_as_the_sites(bob: User) -> None:
    factor = Authenticator.objects.create(user=bob, type=Authenticator.Type.TOTP, data={})
    factor.record_usage()
    factor.delete()
    entries = AuditEntry.objects.order_by("pk").values_list("action", "actor_name")
    assert list(entries) == [
        ("second_factor.added", "the site"),
        ("second_factor.removed", "the site"),
    ]


def test_a_program_that_signs_in_begins_no_session_of_a_browser(bob: User) -> None:
    request = RequestFactory().get("/")
    user_logged_in.send(sender=User, request=request, user=bob)
    user_logged_in.send(sender=User, request=None, user=bob)
    assert not UserSession.objects.exists()


def test_commands_load_nothing_of_passkeys() -> None:
    code = "import django, sys; django.setup(); print([n for n in sys.modules if 'fido2' in n])"
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert loaded.stdout == "[]\n", loaded.stderr
