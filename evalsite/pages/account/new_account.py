"""What a form for a new account asks: a password, twice."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from evalsite.pages.account.forms import RULES_HELP
from scoring.models import User


def _password_field(**options: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(strip=False, widget=widget, **options)


class NewAccountForm(forms.Form):
    """A password, typed twice and checked against the person of `new_user`."""

    password = _password_field(help_text=RULES_HELP)
    password_again = _password_field(label="Confirm password")

    def new_user(self) -> User:
        """The person as far as they are known, not stored."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if password := cleaned.get("password"):
            if password != cleaned.get("password_again", password):
                text = "The two passwords differ. Type the same one twice."
                self.add_error("password_again", text)
            try:
                validate_password(password, self.new_user())
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned
