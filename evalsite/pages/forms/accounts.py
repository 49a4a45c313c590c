"""allauth's forms in the site's words: plain labels, and help that stands where it is read."""

from __future__ import annotations

from typing import Any, Final

from allauth.account import forms as theirs
from django.db import transaction

from scoring.models import AuditEntry, User

#: allauth's labels in title case, by field.
_LABELS: Final = {
    "login": "E-mail",
    "email": "E-mail",
    "password": "Password",
    "remember": "Stay signed in",
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "New password again",
}
_HELP: Final = "At least 8 characters, not only digits, and nothing that everybody uses."


class _Worded:
    """Words the fields of the form that it is mixed into."""

    fields: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = _LABELS.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)  # repeats the label
            if name == "password1":
                field.help_text = _HELP


class _Audited:
    """Keeps that the password changed, though neither the old nor the new one."""

    user: User

    def save(self) -> None:
        with transaction.atomic():
            super().save()  # type: ignore[misc]  # of the form beside
            AuditEntry.objects.record(None, self.user, "password.changed", self.user)


class SignInForm(_Worded, theirs.LoginForm):  # type: ignore[misc]  # allauth carries no types
    pass


class ChangePasswordForm(_Worded, _Audited, theirs.ChangePasswordForm):  # type: ignore[misc]
    pass


class LostPasswordForm(_Worded, theirs.ResetPasswordForm):  # type: ignore[misc]
    pass


class NewPasswordForm(_Worded, _Audited, theirs.ResetPasswordKeyForm):  # type: ignore[misc]
    pass
