"""The page of members: what an admin does there, and what others see."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, Invitation, Member, Role, Team, User

BrowserOf = Callable[[User], Client]


def member_of(user: User) -> Member:
    return Member.objects.get(user=user)


def test_members_see_who_is_in_the_team_and_no_links(
    browser_of: BrowserOf, team: Team, alice: User, bob: User
) -> None:
    invitation = Invitation.objects.create(team=team, email="new@example.org", created_by=alice)
    page = browser_of(bob).get(reverse("members", args=[team.slug])).text
    assert alice.email in page
    assert "new@example.org" not in page
    assert invitation.key not in page
    assert "Remove" not in page


def test_an_admin_sees_open_invitations_with_their_links(
    browser_of: BrowserOf, team: Team, alice: User
) -> None:
    shown = Invitation.objects.create(team=team, email="new@example.org", created_by=alice)
    asked = Invitation.objects.create(team=team, email="asks@example.org", is_requested=True)
    page = browser_of(alice).get(reverse("members", args=[team.slug])).text
    assert f"http://testserver/invitations/{shown.key}/" in page
    assert asked.email in page
    assert asked.key not in page


def test_a_role_holds_from_the_next_request_on(
    browser_of: BrowserOf, team: Team, alice: User, erin: User
) -> None:
    editor = browser_of(erin)
    upload = reverse("new_upload", args=[team.slug])
    assert editor.get(upload).status_code == 200
    url = reverse("member_role", args=[team.slug, member_of(erin).pk])
    answer = browser_of(alice).post(url, {"role": "1"}, follow=True)
    assert "erin@example.org has the role viewer now." in answer.text
    assert editor.get(upload).status_code == 403


@pytest.mark.parametrize("role", ["0", "5", "admin", ""])
def test_what_is_no_role_changes_nothing(
    browser_of: BrowserOf, team: Team, alice: User, bob: User, role: str
) -> None:
    url = reverse("member_role", args=[team.slug, member_of(bob).pk])
    answer = browser_of(alice).post(url, {"role": role}, follow=True)
    assert "This is no role." in answer.text
    assert member_of(bob).role == Role.VIEWER


def test_the_last_admin_is_told_why_they_stay(
    browser_of: BrowserOf, team: Team, alice: User
) -> None:
    admin, own = browser_of(alice), member_of(alice).pk
    refusal = "A team needs an admin."
    for name, sent in (("member_role", {"role": "1"}), ("remove_member", {})):
        url = reverse(name, args=[team.slug, own])
        assert refusal in admin.post(url, sent, follow=True).text
    leave = reverse("leave_team", args=[team.slug])
    page = admin.get(leave).text
    assert "You are the only admin of Support." in page
    assert reverse("hand_over_team", args=[team.slug]) in page
    assert refusal in admin.post(leave, {"leave": ""}, follow=True).text
    assert member_of(alice).role == Role.ADMIN


def test_removing_somebody_says_what_goes_and_does_it(
    browser_of: BrowserOf, team: Team, alice: User, bob: User
) -> None:
    team.tokens.issue(team, bob, "nightly")
    admin, viewer = browser_of(alice), browser_of(bob)
    url = reverse("remove_member", args=[team.slug, member_of(bob).pk])
    assert "1 API token for this team is revoked." in admin.get(url).text
    assert admin.post(url, follow=True).status_code == 200
    answer = viewer.get(reverse("team_home", args=[team.slug]))
    assert "/accounts/login/" in answer.headers["Location"]


def test_leaving_leads_home(browser_of: BrowserOf, team: Team, alice: User, bob: User) -> None:
    viewer = browser_of(bob)
    answer = viewer.post(reverse("leave_team", args=[team.slug]), {"leave": ""}, follow=True)
    assert "You left Support." in answer.text
    assert "You are in no team yet" in answer.text
    assert AuditEntry.objects.get().action == "member.left"


def test_another_teams_member_is_missing(
    browser_of: BrowserOf, team: Team, alice: User, charlie: User
) -> None:
    admin = browser_of(alice)
    for name in ("member_role", "remove_member"):
        url = reverse(name, args=[team.slug, member_of(charlie).pk])
        assert admin.post(url, {"role": "1"}).status_code == 404
    assert member_of(charlie).role == Role.ADMIN


def test_a_team_is_handed_over(browser_of: BrowserOf, team: Team, alice: User, bob: User) -> None:
    admin, url = browser_of(alice), reverse("hand_over_team", args=[team.slug])
    assert admin.post(url, {"role": "1"}).status_code == 422
    own = {"successor": str(member_of(alice).pk), "role": "1"}
    assert admin.post(url, own).status_code == 422
    answer = admin.post(url, {"successor": str(member_of(bob).pk), "role": "none"}, follow=True)
    assert "bob@example.org administers Support now." in answer.text
    assert list(Member.objects.values_list("user", "role")) == [(bob.pk, Role.ADMIN)]


def test_a_successor_who_cannot_sign_in_is_not_offered(
    browser_of: BrowserOf, team: Team, alice: User, bob: User
) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False)
    page = browser_of(alice).get(reverse("hand_over_team", args=[team.slug]))
    assert not page.context["form"].fields["successor"].queryset.exists()
