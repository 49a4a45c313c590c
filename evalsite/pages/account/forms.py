"""allauth's forms with the site's labels and help texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from allauth.account import forms as allauth_forms
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from django import forms
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.middleware.client_address import client_address
from evalsite.middleware.signed_in import count_password_attempt, forget_password_attempts
from evalsite.pages.web.error_pages import too_many_attempts
from evalsite.site_links import site_link
from scoring.models import AttemptCounter, AuditEntry, OutgoingMail, User
from scoring.models.team.attempt_counter import TooManyAttemptsError, limits_for
from scoring.models.team.outgoing_mail import LINK_KEY

#: In place of allauth's labels in title case, by field.
_LABELS: Final = {
    "login": "E-mail",
    "email": "E-mail",
    "password": "Password",
    "remember": "Stay signed in",
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "Confirm password",
}
RULES_HELP: Final = "At least 8 characters, not only digits, and not a commonly used password."


@contextmanager
def refuse_too_many_attempts() -> Iterator[None]:
    """Answer 429 where the block runs into a limit of attempts."""
    try:
        yield
    except TooManyAttemptsError as error:
        raise ImmediateHttpResponse(too_many_attempts(error.wait_seconds)) from None


class LabelMixin:
    """Sets the labels and help texts of the form's fields."""

    fields: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = _LABELS.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)  # repeats the label
            if name == "password1":
                field.help_text = RULES_HELP


class NewPasswordMixin:
    """Records that the password changed, but neither the old nor the new one, and ends the person's
    tokens where they say so: whoever had the password may have made some.
    """

    user: User
    fields: dict[str, Any]
    cleaned_data: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        person: User | None = self.user  # None behind a link that is no longer valid
        count = person.tokens.in_force().count() if person else 0
        if count:
            self.fields["end_tokens"] = forms.BooleanField(
                required=False,
                label="Revoke my API tokens",
                help_text=f"You have {count:,} active; programs that use"
                f" {'it' if count == 1 else 'them'} stop working at once.",
            )

    def save(self) -> None:
        with transaction.atomic():
            super().save()  # type: ignore[misc]  # of the form
            if self.cleaned_data.get("end_tokens"):
                _revoke_tokens(self.user)
            new = {"address": client_address(context.request)}
            AuditEntry.objects.record(None, self.user, "password.changed", self.user, new=new)


def _revoke_tokens(person: User) -> None:
    for token in person.tokens.in_force().select_related("team"):
        token.revoke(person)


class SignInForm(LabelMixin, allauth_forms.LoginForm):  # type: ignore[misc]  # allauth carries no types
    pass


class ConfirmPasswordForm(LabelMixin, allauth_forms.ReauthenticateForm):  # type: ignore[misc]
    """Guesses count as attempts to sign in, as the backend sees to."""


class ChangePasswordForm(LabelMixin, NewPasswordMixin, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    """Guesses of the current password count as attempts to sign in."""

    def clean_oldpassword(self) -> str:
        request, email = context.request, self.user.email
        with refuse_too_many_attempts():
            count_password_attempt(request, email)
        password: str = super().clean_oldpassword()
        forget_password_attempts(request, email)
        return password


class LostPasswordForm(LabelMixin, allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    """Leaves the mail to the worker, the same for every address: neither answer nor duration tells
    who has an account.
    """

    def save(self, request: HttpRequest, **_: Any) -> str:
        email: str = self.cleaned_data["email"]
        with refuse_too_many_attempts():
            AttemptCounter.objects.take(limits_for("reset", email, client_address(request)))
        if AttemptCounter.objects.take_mail(email):
            OutgoingMail.objects.create(address=email, link=_reset_link(request))
        return email


def _reset_link(request: HttpRequest) -> str:
    """The link to a new password, without its key."""
    names = dict(zip(("uidb36", "key"), LINK_KEY.split("-"), strict=True))
    return site_link(request, reverse("account_reset_password_from_key", kwargs=names))


class NewPasswordForm(LabelMixin, NewPasswordMixin, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """Sets the new password and lifts the limits of sign-in for its person.

    The link is checked again once the person's row is locked, so that of two simultaneous requests
    one sets its password and the other is redirected to the page that says the link is used.
    """

    temp_key: str

    def save(self) -> None:
        with transaction.atomic():
            locked = User.objects.select_for_update().get(pk=self.user.pk)
            if not allauth_forms.default_token_generator.check_token(locked, self.temp_key):
                raise ImmediateHttpResponse(redirect(context.request.path))
            super().save()
        forget_password_attempts(context.request, self.user.email)
