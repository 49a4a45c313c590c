"""The form that makes the first person of a new site."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from scoring.models import AuditEntry, Member, Role, Team, User

NEW_PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})


class FirstPersonForm(forms.Form):
    """An e-mail address, a password twice, and a team where there is none yet."""

    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        strip=False,
        widget=NEW_PASSWORD,
        help_text="At least 8 characters, not only digits, and nothing that everybody uses.",
    )
    password_again = forms.CharField(strip=False, widget=NEW_PASSWORD)
    team_name = forms.CharField(
        label="Team",
        max_length=100,
        help_text="Who shares the datasets and runs. The name can be changed later.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if Team.objects.exists():
            del self.fields["team_name"]

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        password = given.get("password")
        if password and "password_again" in given and password != given["password_again"]:
            self.add_error("password_again", "The two passwords differ. Type the same one twice.")
        if password:
            self._validate(password, User(email=given.get("email", "")))
        return given

    def _validate(self, password: str, user: User) -> None:
        try:
            validate_password(password, user)
        except ValidationError as fault:
            self.add_error("password", fault)

    def save(self) -> User:
        """The superuser, an admin of every team there is."""
        given = self.cleaned_data
        with transaction.atomic():
            user = User.objects.create_superuser(given["email"], given["password"])
            AuditEntry.objects.record(None, user, "site.set_up", user)
            if "team_name" in given:
                name = given["team_name"]
                first = Team.objects.create(name=name, slug=slugify(name)[:60] or "team")
                AuditEntry.objects.record(first, user, "team.created", first)
            for team in Team.objects.all():
                member = Member.objects.create(team=team, user=user, role=Role.ADMIN)
                new = {"role": Role.ADMIN.label}
                AuditEntry.objects.record(team, user, "member.added", member, new=new)
        return user
