"""What the forms of members and invitations take."""

from __future__ import annotations

import pytest

from evalsite.pages.team.forms import HandOverForm, InvitationForm, JoinLinkForm
from scoring.models import Member, Role, User


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        ("example.org", "example.org"),
        (" @Mail.Example.org ", "mail.example.org"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("", None),
        ("example", None),
        ("a b.org", None),
        ("-x.org", None),
        ("x..org", None),
        ("a@b.org", None),
        ("1.2.3.4", None),
    ],
)
def test_a_domain_is_that_of_an_address(typed: str, domain: str | None) -> None:
    form = JoinLinkForm({"domain": typed, "role": "1"})
    assert form.is_valid() == (domain is not None)
    assert form.cleaned_data.get("domain") == domain


def test_a_join_link_gives_no_role_of_an_admin() -> None:
    assert "role" in JoinLinkForm({"domain": "example.org", "role": str(Role.ADMIN.value)}).errors


def test_roles_are_offered_with_what_they_may_do() -> None:
    choices = InvitationForm().fields["role"].choices  # type: ignore[attr-defined]
    assert choices[0] == (1, "viewer: reads")
    assert [value for value, _ in choices] == list(Role)


def test_a_team_is_handed_over_to_others_alone(alice: User, bob: User, charlie: User) -> None:
    member = Member.objects.get(user=alice)
    form = HandOverForm(member=member)
    successor = form.fields["successor"]
    assert [row.user for row in successor.queryset] == [bob]  # type: ignore[attr-defined]
    assert dict(form.fields["role"].choices) == {  # type: ignore[attr-defined]
        "3": "editor",
        "2": "reviewer",
        "1": "viewer",
        "none": "none: leave the team",
    }
