"""Forms for members and invitations."""

from __future__ import annotations

import re
from typing import Any, Final

from django import forms
from django.db.models import Q

from evalsite.pages.account.new_account import NewAccountForm
from evalsite.pages.web.fields import NameField
from scoring.models import JoinLink, Member, Role, Scope, Team, User
from scoring.models.team.group_role import MAX_GROUP
from scoring.models.team.invitation import JOIN_ROLES

#: What a member of each role may do, on top of the role before.
ABILITIES: Final = {
    Role.VIEWER: "reads",
    Role.REVIEWER: "also reviews and comments",
    Role.EDITOR: "also uploads and edits",
    Role.ADMIN: "also manages members, thresholds and connections",
}
#: What requests a scope is for.
SCOPE_HELP: Final = {
    Scope.READ: "see everything the role sees",
    Scope.SCORE: "try and define scorers, start, cancel and retry runs",
    Scope.UPLOAD: "add datasets, versions, runs and outputs",
    Scope.REVIEW: "queues, reviews, comments, corrections, alerts acknowledged",
    Scope.ADMIN: "alert rules, labels of runs, invitations",
}
_DOMAIN: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}", re.ASCII)


class RoleField(forms.TypedChoiceField):
    """One of some roles."""

    def __init__(self, roles: tuple[Role, ...] = tuple(Role), **options: Any) -> None:
        choices = [(role.value, f"{role.label}: {ABILITIES[role]}") for role in roles]
        super().__init__(choices=choices, coerce=lambda text: Role(int(text)), **options)


class RoleForm(forms.Form):
    """The role of a member."""

    role = forms.TypedChoiceField(
        choices=[(role.value, role.label) for role in Role], coerce=lambda text: Role(int(text))
    )

    def __init__(self, data: Any = None, *, member: Member) -> None:
        super().__init__(data, initial={"role": member.role}, auto_id=False)
        self.fields["role"].widget.attrs["aria-label"] = f"Role of {member.user}"


class InvitationForm(forms.Form):
    """An e-mail address and a role."""

    email = forms.EmailField(label="E-mail", max_length=254)
    role = RoleField(initial=Role.REVIEWER)


class JoinLinkForm(forms.Form):
    """A domain, and the role of whoever joins with an address there."""

    domain = forms.CharField(
        max_length=253, widget=forms.TextInput(attrs={"placeholder": "example.org"})
    )
    role = RoleField(JOIN_ROLES, label="Role", initial=Role.VIEWER)

    def clean_domain(self) -> str:
        domain: str = self.cleaned_data["domain"].strip().removeprefix("@").lower()
        if not _DOMAIN.fullmatch(domain):
            raise forms.ValidationError("Enter a domain such as example.org.")
        return domain


class GroupRoleForm(forms.Form):
    """A group of single sign-on, and what its members may do."""

    group = NameField(max_length=MAX_GROUP, help_text="As the provider names it in its claims.")
    role = RoleField(label="Role", initial=Role.VIEWER)


class HandOverForm(forms.Form):
    """Who administers the team from now on, and what becomes of who did."""

    NO_ROLE: Final = "none"

    successor = forms.ModelChoiceField(
        Member.objects.none(), label="New admin", empty_label="Choose a member"
    )
    role = forms.ChoiceField(label="Your role afterwards")

    def __init__(self, *args: Any, member: Member, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = Member.objects.people().filter(team=member.team_id, user__is_active=True)
        self.fields["successor"].queryset = others.exclude(pk=member.pk)  # type: ignore[attr-defined]
        self.fields["successor"].label_from_instance = lambda row: str(row.user)  # type: ignore[attr-defined]
        roles = [(str(role.value), role.label) for role in reversed(Role) if role != Role.ADMIN]
        self.fields["role"].choices = [*roles, (self.NO_ROLE, "none: leave the team")]  # type: ignore[attr-defined]

    @property
    def new_role(self) -> Role | None:
        role = self.cleaned_data["role"]
        return None if role == self.NO_ROLE else Role(int(role))


class JoinForm(forms.Form):
    """An e-mail address of the join link's domain."""

    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    def __init__(self, *args: Any, join_link: JoinLink, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.join_link = join_link

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if not self.join_link.is_for(email):
            raise forms.ValidationError(f"Use your address at {self.join_link.domain}.")
        return email


class InvitedPersonForm(NewAccountForm):
    """The name and password of a new person with an invitation's address."""

    name = NameField(
        required=False, max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    field_order = ("name", "password", "password_again")

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def new_user(self) -> User:
        return User(email=self.email, name=self.cleaned_data.get("name", ""))


class TokenForm(forms.Form):
    """A token's name, whom it acts for, and what it may do until when."""

    DAYS: Final = {"30": "in 30 days", "90": "in 90 days", "365": "in a year", "": "never"}

    name = NameField(max_length=100, help_text="What uses the token, such as nightly CI.")
    member = forms.ModelChoiceField(Member.objects.none(), label="Acts for", empty_label=None)
    role = RoleField(
        initial=Role.EDITOR, help_text="At most that of whom it acts for, whatever is chosen here."
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, f"{scope.label}: {SCOPE_HELP[scope]}") for scope in Scope],
        initial=[Scope.READ, Scope.SCORE, Scope.UPLOAD],
        widget=forms.CheckboxSelectMultiple,
        help_text="Role and scope both have to allow a request.",
    )
    days = forms.ChoiceField(
        choices=list(DAYS.items()), label="Expires", required=False, initial="90"
    )

    def __init__(self, data: Any = None, *, team: Team, user: User) -> None:
        super().__init__(data)
        own_or_service = Q(user=user) | Q(user__is_service=True)
        members = Member.objects.select_related("user", "team").filter(own_or_service, team=team)
        field = self.fields["member"]
        field.queryset = members.order_by("user__is_service", "user__name")  # type: ignore[attr-defined]
        field.label_from_instance = lambda row: (  # type: ignore[attr-defined]
            f"{row.user}, service account" if row.user.is_service else f"{row.user} (you)"
        )

    def clean_days(self) -> int | None:
        days = self.cleaned_data["days"]
        return int(days) if days else None


class ServiceAccountForm(forms.Form):
    """A service account's name and role."""

    name = NameField(max_length=100)
    role = RoleField(initial=Role.EDITOR)
