"""Two-factor sign-in: authenticator apps, passkeys and recovery codes, by allauth's own views.

What is ours: secrets are encrypted, guesses are limited across processes, every change is audited
in its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, Final

from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.mfa.webauthn import forms as passkey_forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path

from evalsite.pages.account.forms import refuse_too_many_attempts
from evalsite.pages.web.fields import NameField
from scoring.models import AttemptCounter, AuditEntry, User
from scoring.models.encryption import DecryptionError, decrypt, encrypt
from scoring.models.team.attempt_counter import Limit, TooManyAttemptsError, fold_account

SITE_NAME: Final = "Evalsite"
#: Guesses of a code in 15 minutes, from wherever: who makes them knows the password already.
MAX_GUESSES: Final = 10
WINDOW_SECONDS: Final = 15 * 60
#: Longer than a code is good for.
USED_SECONDS: Final = 120
_BOUND_TO: Final = "second factor"


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth carries no types
    """Encrypts secrets with the site's key, and names the site for apps and passkeys."""

    def encrypt(self, text: str) -> str:
        return encrypt(text, _BOUND_TO)

    def decrypt(self, encrypted_text: str) -> str:
        """With another key of the site a secret that nobody knows: no code is right then."""
        try:
            return decrypt(encrypted_text, _BOUND_TO)
        except DecryptionError:
            unknown: str = generate_totp_secret()
            return unknown

    def get_totp_issuer(self) -> str:
        return SITE_NAME

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return entity | {"name": SITE_NAME}

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002  allauth's name
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return f"Passkey {number}"


class CodeMixin:
    """Limits guesses per account, and takes no code twice, in whichever process it was used."""

    user: User
    fields: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code"
        attributes = {"autocomplete": "one-time-code", "inputmode": "numeric"}
        self.fields["code"].widget.attrs = attributes
        self.fields["code"].help_text = "From your authenticator app, or a recovery code."

    def clean_code(self) -> str:
        account = fold_account(self.user.email)
        guesses = Limit(("code", account), MAX_GUESSES, WINDOW_SECONDS)
        with refuse_too_many_attempts():
            AttemptCounter.objects.take([guesses])
        code: str = super().clean_code()  # type: ignore[misc]  # of the form
        used = Limit(("used code", account, normalize_user_code(code)), 1, USED_SECONDS)
        try:
            AttemptCounter.objects.take([used])
        except TooManyAttemptsError:
            raise SecondFactorAdapter().validation_error("incorrect_code") from None
        AttemptCounter.objects.forget(guesses)
        return code


class SignInCodeForm(CodeMixin, mfa_forms.AuthenticateForm):  # type: ignore[misc]
    pass


class ConfirmCodeForm(CodeMixin, mfa_forms.ReauthenticateForm):  # type: ignore[misc]
    pass


class ActivateAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app that has just read the secret."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code that the app shows"
        attributes = {"autocomplete": "one-time-code", "inputmode": "numeric"}
        self.fields["code"].widget.attrs = attributes


class PasskeyMixin:
    """Refuses what no browser sends, over which allauth and its library stumble."""

    def clean_credential(self) -> Any:
        with _refuse_malformed():
            return super().clean_credential()  # type: ignore[misc]  # of the form


class PasskeySignInForm(PasskeyMixin, passkey_forms.LoginWebAuthnForm):  # type: ignore[misc]
    pass


class PasskeySecondStepForm(PasskeyMixin, passkey_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    pass


class PasskeyConfirmForm(PasskeyMixin, passkey_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    pass


@contextmanager
def _refuse_malformed() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise SecondFactorAdapter().validation_error("incorrect_code") from fault


class AddPasskeyForm(passkey_forms.AddWebAuthnForm):  # type: ignore[misc]
    """A passkey's name, and whether it signs in without a password."""

    name = NameField(max_length=100, required=False, help_text="To tell it from others.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "passwordless" in self.fields:
            self.fields["passwordless"].label = "Sign in without a password"
            help_text = "With this passkey alone. It then asks for a PIN or a fingerprint."
            self.fields["passwordless"].help_text = help_text

    def clean(self) -> dict[str, Any]:
        with _refuse_malformed():
            cleaned: dict[str, Any] = super().clean()
        return cleaned


class RenamePasskeyForm(passkey_forms.EditWebAuthnForm):  # type: ignore[misc]
    """A passkey's name."""

    name = NameField(max_length=100)

    def save(self) -> Authenticator:
        old = self.instance.wrap().name
        passkey = super().save()
        new = {"name": passkey.wrap().name}
        person = passkey.user
        AuditEntry.objects.record(
            None, person, "second_factor.renamed", person, old={"name": old}, new=new
        )
        return passkey


View = Callable[..., HttpResponse]


def in_transactions(module: str) -> list[URLPattern | URLResolver]:
    """The URLs of a module; what each POST changes and records is stored together or not at all."""
    return list(_wrap(import_module(module).urlpatterns))


def _wrap(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern | URLResolver]:
    for entry in patterns:
        route = str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield path(route, include(list(_wrap(entry.url_patterns))))
        else:
            yield path(route, atomic_post(entry.callback), name=entry.name)


def atomic_post(view: View) -> View:
    """The view, which changes all or nothing."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return wrapped
