"""Ways to sign in are audited and sessions listed, whoever brings it about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.signals import user_logged_in
from django.test import Client, RequestFactory
from django.urls import reverse

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


def test_who_is_disconnected_is_recorded(browser_of: Callable[[User], Client], root: User) -> None:
    """By a superuser in Django's admin, also where the site has no provider any more."""
    bob = User.objects.create_user("bob@example.org")
    account = SocialAccount.objects.create(user=bob, provider="sso-1", uid="42")
    admin, url = browser_of(root), reverse("admin:scoring_user_change", args=[bob.pk])
    page = admin.get(url)
    assert "Single sign-on" in page.text
    prefix = "socialaccount_set"
    counts = {f"{prefix}-TOTAL_FORMS": 1, f"{prefix}-INITIAL_FORMS": 1}
    row = {f"{prefix}-0-id": account.pk, f"{prefix}-0-user": bob.pk, f"{prefix}-0-DELETE": "on"}
    answer = admin.post(url, {"email": bob.email, "is_active": "on", **counts, **row})
    assert answer.status_code == 302
    assert not SocialAccount.objects.exists()
    entry = AuditEntry.objects.get(action="single_sign_on.disconnected")
    assert (entry.actor, entry.target_name) == (root, bob.email)


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
