"""Who comes in by single sign-on: as which account, and into which teams."""

from __future__ import annotations

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.pages.account.sso.identity import Identity, get_sso, is_of_one_person
from evalsite.pages.web.responses import render_page
from scoring.engine.team import groups
from scoring.models import AuditEntry, Invitation, User

log = logging.getLogger(__name__)

#: In the session: a sign-in that waits for the password of the account to connect.
WAITING = "sso_waiting"


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth carries no types
    """Lets people in whom a group or an invitation gives a place; nobody by an address alone."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        return True  # `pre_social_login` has refused whoever has no place

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Bring the teams of a known person up to date; refuse a new one who has no place."""
        claims = sociallogin.account.extra_data
        if not is_of_one_person(claims):
            raise ImmediateHttpResponse(refused(request, "failed"))
        identity = Identity.from_claims(claims)
        if sociallogin.is_existing:
            _bring_up_to_date(sociallogin.user, identity)
            return
        _check_address(request, identity)
        if User.objects.filter(email=identity.email).exists():
            request.session[WAITING] = sociallogin.serialize()
            raise ImmediateHttpResponse(redirect("sso_connect"))
        invitation = Invitation.objects.open().filter(email=identity.email).first()
        if not groups.has_place_by(identity.groups or ()):
            if invitation is None:
                raise ImmediateHttpResponse(refused(request, "no_place", identity))
            sociallogin.state["next"] = reverse("invitation", args=[invitation.key])

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:  # noqa: ARG002
        """A new person, without a password, and a member where their groups say so."""
        identity = Identity.from_claims(sociallogin.account.extra_data)
        try:
            with transaction.atomic():
                user = User.objects.create_user(identity.email, name=identity.name)
                new = {"email": user.email, "from": get_sso().name}
                AuditEntry.objects.record(None, user, "user.created", user, new=new)
                sociallogin.user = sociallogin.account.user = user
                sociallogin.account.save()
                groups.bring_up_to_date(user, identity.groups or ())
        except IntegrityError:  # the same person, twice at once
            raise ImmediateHttpResponse(redirect("sso")) from None
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,  # noqa: ARG002  allauth's signature
    ) -> None:
        log.warning("single sign-on through %s: %s %r", provider, error, exception)
        why = "cancelled" if error == "cancelled" else "failed"
        raise ImmediateHttpResponse(refused(request, why))


def refused(request: HttpRequest, why: str, identity: Identity | None = None) -> HttpResponse:
    """The page that says why somebody is not let in."""
    context = {"why": why, "identity": identity, "sso": get_sso()}
    return render_page(request, "account/sso/refused.html", context, status=403)


def _bring_up_to_date(user: User, identity: Identity) -> None:
    """Their teams by their groups, where these are said; the session that begins is a new one."""
    if identity.groups is not None and user.is_active:
        groups.bring_up_to_date(user, identity.groups)
        user.refresh_from_db(fields=["session_epoch"])


def _check_address(request: HttpRequest, identity: Identity) -> None:
    try:
        User._meta.get_field("email").clean(identity.email, None)
    except ValidationError:
        raise ImmediateHttpResponse(refused(request, "no_address", identity)) from None
    if not identity.is_verified:
        raise ImmediateHttpResponse(refused(request, "unverified", identity))
