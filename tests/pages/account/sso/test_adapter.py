"""Who is let in by single sign-on: new people, known ones, invited ones; and who is not."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.engine.team.groups import set_group_role
from scoring.models import AuditEntry, Invitation, Member, Role, Team, User
from tests.support.fixtures.single_sign_on import change_sso, go_through, signed_in
from tests.support.identity_provider import IdentityProvider


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_new_person_is_a_member_at_once(
    client: Client, provider: IdentityProvider, team: Team
) -> None:
    provider.person["groups"] = ["staff", "everybody"]
    answer = go_through(client, provider, f"/teams/{team.slug}/members/")
    assert (answer.status_code, answer["Location"]) == (302, f"/teams/{team.slug}/members/")
    dora = User.objects.get(email="dora@example.org")
    assert signed_in(client) == dora.email
    assert (dora.name, dora.has_usable_password()) == ("Dora", False)
    member = Member.objects.get(user=dora)
    assert (member.role, member.from_groups) == (Role.EDITOR, True)
    assert actions()[-2:] == ["user.created", "member.added"]
    assert "by group" not in client.get(f"/teams/{team.slug}/members/").text  # an admin's to see


def test_a_known_person_is_the_same_though_the_address_changed(
    client: Client, provider: IdentityProvider
) -> None:
    provider.person["groups"] = "staff"
    go_through(client, provider)
    provider.person |= {"email": "new@example.org", "email_verified": False}
    go_through(Client(), provider)
    assert signed_in(client) == "dora@example.org"
    assert SocialAccount.objects.count() == 1


def test_whoever_has_no_place_gets_no_account(client: Client, provider: IdentityProvider) -> None:
    for said in ({}, {"groups": ["others"]}, {"groups": [1, None]}, {"groups": {"staff": 1}}):
        provider.person = {**provider.person, **said}
        answer = go_through(client, provider)
        assert answer.status_code == 403
        assert "has no place in a team here" in answer.text
    assert not User.objects.filter(email="dora@example.org").exists()
    assert signed_in(client) == ""


def test_an_invitation_gives_a_place(
    client: Client, provider: IdentityProvider, team: Team
) -> None:
    invitation = Invitation.objects.create(team=team, email="dora@example.org", role=Role.REVIEWER)
    url = reverse("invitation", args=[invitation.key])
    assert "Join with Example ID" in client.get(url).text
    answer = go_through(client, provider)
    assert answer["Location"] == url
    assert not Member.objects.filter(user__email="dora@example.org").exists()
    client.post(url)
    member = Member.objects.get(user__email="dora@example.org")
    assert (member.role, member.from_groups) == (Role.REVIEWER, False)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"email_verified": False}, "does not confirm that"),
        ({"email_verified": None}, "does not confirm that"),
        ({"email": None}, "gives no e-mail address"),
        ({"email": "no address"}, "gives no e-mail address"),
        ({"email": f"{'a' * 60}@{'b.' * 110}example.org"}, "gives no e-mail address"),
        ({"email": ["a@example.org"]}, "gives no e-mail address"),
    ],
)
def test_an_address_that_nobody_confirms_makes_no_account(
    client: Client, provider: IdentityProvider, said: dict[str, object], text: str
) -> None:
    provider.person |= {"groups": ["staff"], **said}
    answer = go_through(client, provider)
    assert answer.status_code == 403
    assert text in answer.text
    assert not SocialAccount.objects.exists()


def test_a_site_may_trust_a_provider_that_says_nothing_of_it(
    client: Client, provider: IdentityProvider, settings: Settings
) -> None:
    change_sso(settings, trusts_addresses=True)
    provider.person["groups"] = ["staff"]
    del provider.person["email_verified"]
    go_through(client, provider)
    assert signed_in(client) == "dora@example.org"


def test_an_inactive_person_is_not_let_in(client: Client, provider: IdentityProvider) -> None:
    provider.person["groups"] = ["staff"]
    go_through(Client(), provider)
    User.objects.filter(email="dora@example.org").update(is_active=False)
    go_through(client, provider)
    assert signed_in(client) == ""


def test_the_accounts_of_another_provider_are_others(
    client: Client, provider: IdentityProvider, settings: Settings
) -> None:
    provider.person["groups"] = ["staff"]
    go_through(Client(), provider)
    change_sso(settings, issuer=provider.issuer + "/")
    assert go_through(client, provider)["Location"] == reverse("sso_connect")


def test_who_loses_a_team_is_signed_in_all_the_same(
    client: Client, provider: IdentityProvider, team: Team, alice: User
) -> None:
    other = Team.objects.create(name="Other", slug="other")
    set_group_role(other, "others", Role.VIEWER, alice)
    provider.person["groups"] = ["staff", "others"]
    earlier = Client()
    go_through(earlier, provider)
    provider.person["groups"] = ["others"]
    go_through(client, provider)
    assert signed_in(client) == "dora@example.org"
    assert signed_in(earlier) == ""
    assert [member.team for member in Member.objects.filter(user__email="dora@example.org")] == [
        other
    ]


def test_groups_that_are_not_said_change_nothing(
    client: Client, provider: IdentityProvider
) -> None:
    provider.person["groups"] = ["staff"]
    go_through(Client(), provider)
    del provider.person["groups"]
    go_through(client, provider)
    assert Member.objects.filter(user__email="dora@example.org").exists()


def test_two_sources_speak_of_one_person(client: Client, provider: IdentityProvider) -> None:
    provider.person["groups"] = ["staff"]
    provider.token_subject = "somebody else"
    assert go_through(client, provider).status_code == 403
    assert signed_in(client) == ""


def test_a_second_factor_is_asked_for_all_the_same(
    client: Client, provider: IdentityProvider
) -> None:
    provider.person["groups"] = ["staff"]
    go_through(Client(), provider)
    dora = User.objects.get(email="dora@example.org")
    Authenticator.objects.create(user=dora, type=Authenticator.Type.TOTP, data={})
    assert go_through(client, provider)["Location"] == reverse("mfa_authenticate")
    assert signed_in(client) == ""


def test_who_has_no_password_sets_up_a_second_factor(
    client: Client, provider: IdentityProvider
) -> None:
    provider.person["groups"] = ["staff"]
    go_through(client, provider)
    account = client.get(reverse("profile")).text
    assert reverse("account_change_password") not in account
    assert "connected" in account
    answer = client.get(reverse("mfa_activate_totp"))
    assert answer.status_code == 200
    assert "totp" in answer.text
