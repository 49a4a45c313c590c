"""What follows when ways to sign in come and go, and when a session begins.

Every command imports this, so it imports little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from allauth.core import context
from django.http import HttpRequest

from scoring.models import AuditEntry, User

if TYPE_CHECKING:
    from allauth.mfa.models import Authenticator
    from allauth.socialaccount.models import SocialAccount

#: What the audit log calls each kind of second factor.
KINDS: Final = {
    "totp": "authenticator app",
    "webauthn": "passkey",
    "recovery_codes": "recovery codes",
}


def record_added(instance: Authenticator, created: bool, **_: Any) -> None:
    """Audit a new second factor."""
    if created:
        _record("added", instance)


def record_removed(instance: Authenticator, **_: Any) -> None:
    """Audit the end of a second factor."""
    _record("removed", instance)


def record_disconnected(instance: SocialAccount, **_: Any) -> None:
    """Audit that somebody no longer comes in by an account of the provider."""
    AuditEntry.objects.record(None, _actor(), "single_sign_on.disconnected", instance.user)


def _actor() -> User | None:
    """Whoever is signed in."""
    user = getattr(context.request, "user", None)
    return user if isinstance(user, User) else None


def _record(verb: str, factor: Authenticator) -> None:
    kind = {"kind": KINDS[factor.type]}
    values = {"new": kind} if verb == "added" else {"old": kind}
    AuditEntry.objects.record(None, _actor(), f"second_factor.{verb}", factor.user, **values)


def remember_session(request: HttpRequest | None, user: User, **_: Any) -> None:
    """List the session that has just begun, unless no request of a browser began it."""
    from allauth.usersessions.models import UserSession

    if getattr(request, "user", None) == user:
        UserSession.objects.create_from_request(request)
