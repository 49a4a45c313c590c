"""To the provider of single sign-on, back from it, and a password once to connect an account."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login, render_authentication_error
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods
from requests import RequestException

from evalsite.middleware.client_address import client_address
from evalsite.pages.account.sso.adapter import WAITING, refused
from evalsite.pages.account.sso.identity import Identity, get_sso
from evalsite.pages.account.sso.provider import Client
from evalsite.pages.web.error_pages import too_many_attempts
from evalsite.pages.web.responses import render_page
from scoring.models import AttemptCounter, AuditEntry, User
from scoring.models.team.attempt_counter import TooManyAttemptsError, address_limit

#: What a provider's answer raises that is not what OpenID Connect says.
ODD_ANSWERS = (RequestException, KeyError, TypeError, ValueError)


@never_cache
@require_GET
def sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider's sign-in page."""
    try:
        AttemptCounter.objects.take([address_limit("sso", client_address(request))])
    except TooManyAttemptsError as error:
        return too_many_attempts(error.wait_seconds)
    provider = get_adapter().get_provider(request, get_sso().provider_id)
    next_url = get_next_redirect_url(request)
    try:
        answer: HttpResponse = provider.redirect(request, AuthProcess.LOGIN, next_url=next_url)
    except ODD_ANSWERS as fault:
        return _failed(request, provider, fault)
    return answer


@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Let in whom the provider has let in."""
    client = Client(request, get_sso().provider_id)
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(client)(request)
    except ODD_ANSWERS as fault:
        return _failed(request, client.get_provider(), fault)
    return answer


class ConnectForm(forms.Form):
    """The password of the account to connect."""

    password = forms.CharField(
        strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def connect_account(request: HttpRequest) -> HttpResponse:
    """Ask for the password of the account with the address that the provider gave."""
    sso, waiting = get_sso(), request.session.get(WAITING)
    if waiting is None:
        return redirect("account_login")
    login = SocialLogin.deserialize(waiting)
    identity = Identity.from_claims(login.account.extra_data)
    person = User.objects.filter(email=identity.email).first()
    if person is None or not (person.is_active and person.has_usable_password()):
        del request.session[WAITING]
        return refused(request, "not_connected", identity)
    form = ConnectForm(request.POST or None)
    if form.is_valid():
        credentials = {"email": person.email, "password": form.cleaned_data["password"]}
        try:
            signed_in = get_account_adapter().authenticate(request, **credentials)
        except ImmediateHttpResponse as limited:
            too_many: HttpResponse = limited.response
            return too_many
        if signed_in:
            del request.session[WAITING]
            _connect(login, person)
            answer: HttpResponse = complete_social_login(request, SocialLogin.deserialize(waiting))
            return answer
        form.add_error("password", "This is not the account's password.")
    context = {"form": form, "identity": identity, "sso": sso}
    status = 422 if form.errors else 200
    return render_page(request, "account/sso/connect.html", context, status=status)


def _connect(login: Any, person: User) -> None:
    account = login.account
    with transaction.atomic():
        _, is_new = SocialAccount.objects.get_or_create(
            provider=account.provider,
            uid=account.uid,
            defaults={"user": person, "extra_data": account.extra_data},
        )
        if is_new:
            new = {"provider": get_sso().name}
            AuditEntry.objects.record(None, person, "single_sign_on.connected", person, new=new)


def _failed(request: HttpRequest, provider: Any, fault: Exception) -> HttpResponse:
    answer: HttpResponse = render_authentication_error(request, provider, exception=fault)
    return answer
