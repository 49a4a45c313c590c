"""Members: roles, leaving, removal, and the last admin who stays."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scoring.engine.team import members
from scoring.engine.team.members import LastAdminError
from scoring.models import AuditEntry, Invitation, Member, ReviewQueue, Role, Team, Token, User
from tests.conftest import PASSWORD
from tests.support.concurrency import call_at_once, locked_tables
from tests.support.fixtures.house import house

__all__ = ["house"]


def member_of(user: User) -> Member:
    return Member.objects.select_related("team", "user").get(user=user)


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_role_changes_with_what_it_was(alice: User, bob: User) -> None:
    members.change_role(member_of(bob), Role.EDITOR, alice)
    assert member_of(bob).role == Role.EDITOR
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.old, entry.new) == (
        "member.role_changed",
        {"role": "viewer"},
        {"role": "editor"},
    )


def test_the_same_role_again_is_no_change(alice: User, bob: User) -> None:
    members.change_role(member_of(bob), Role.VIEWER, alice)
    assert actions() == []


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_the_last_admin_keeps_the_role(alice: User, bob: User, role: Role) -> None:
    with pytest.raises(LastAdminError):
        members.change_role(member_of(alice), role, alice)
    assert member_of(alice).role == Role.ADMIN


def test_the_last_admin_neither_leaves_nor_is_removed(alice: User, bob: User) -> None:
    for act in (members.leave_team, lambda member: members.remove_member(member, bob)):
        with pytest.raises(LastAdminError):
            act(member_of(alice))
    assert Member.objects.filter(user=alice).exists()
    assert actions() == []


@pytest.mark.parametrize("fields", [{"is_active": False}, {"is_service": True}])
def test_who_cannot_sign_in_is_no_admin_to_leave_the_team_to(
    alice: User, bob: User, fields: dict[str, bool]
) -> None:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    User.objects.filter(pk=bob.pk).update(**fields)
    with pytest.raises(LastAdminError):
        members.leave_team(member_of(alice))


def test_removal_ends_sessions_and_tokens_and_nobody_elses(
    team: Team, alice: User, bob: User, rita: User
) -> None:
    browsers = {}
    for user in (bob, rita):
        browsers[user] = Client()
        browsers[user].login(email=user.email, password=PASSWORD)
    token, _ = Token.objects.issue(team, bob, "nightly")
    others, _ = Token.objects.issue(team, rita, "nightly")
    members.remove_member(member_of(bob), alice)
    assert browsers[bob].get("/").url == "/accounts/login/?next=/"  # type: ignore[attr-defined]
    assert browsers[rita].get("/").url == f"/teams/{team.slug}/"  # type: ignore[attr-defined]
    token.refresh_from_db()
    others.refresh_from_db()
    assert token.revoked_at
    assert others.revoked_at is None
    assert actions() == ["token.revoked", "member.removed"]


def test_sessions_end_every_time(team: Team, alice: User, bob: User) -> None:
    for _ in range(2):
        browser = Client()
        browser.login(email=bob.email, password=PASSWORD)
        assert browser.get("/").status_code == 302
        members.remove_member(member_of(bob), alice)
        assert "login" in browser.get("/").url  # type: ignore[attr-defined]
        members.add_member(team, bob, Role.VIEWER, alice)


def test_who_leaves_stays_signed_in_and_out_of_the_team(team: Team, alice: User, bob: User) -> None:
    browser = Client()
    browser.login(email=bob.email, password=PASSWORD)
    members.leave_team(member_of(bob))
    assert browser.get("/").status_code == 200
    assert browser.get(f"/teams/{team.slug}/").status_code == 404


def test_places_in_pools_of_reviewers_are_free_again(
    house: dict[str, Any], alice: User, rita: User, erin: User
) -> None:
    queue: ReviewQueue = house["review"]
    queue.pool.set([rita, erin])
    members.remove_member(member_of(rita), alice)
    assert list(queue.pool.all()) == [erin]
    assert "review_queue.pool_changed" in actions()


def test_invitations_end_with_who_made_them(team: Team, alice: User, bob: User) -> None:
    """They may have kept a link, for an address of their own."""
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    open_one = Invitation.objects.create(team=team, email="a@example.org", created_by=alice)
    for act in (
        lambda: members.change_role(member_of(bob), Role.EDITOR, alice),
        lambda: members.remove_member(member_of(bob), alice),
    ):
        Invitation.objects.create(team=team, email="b@example.org", created_by=bob)
        act()
        assert list(Invitation.objects.open()) == [open_one]


def test_a_team_is_handed_over_in_one_step(alice: User, bob: User) -> None:
    members.hand_over(member_of(alice), member_of(bob), Role.EDITOR)
    assert (member_of(alice).role, member_of(bob).role) == (Role.EDITOR, Role.ADMIN)
    members.hand_over(member_of(bob), member_of(alice), None)
    assert member_of(alice).role == Role.ADMIN
    assert not Member.objects.filter(user=bob).exists()


def test_it_is_not_handed_over_to_who_cannot_sign_in(alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False)
    with pytest.raises(LastAdminError):
        members.hand_over(member_of(alice), member_of(bob), Role.EDITOR)
    assert (member_of(alice).role, member_of(bob).role) == (Role.ADMIN, Role.VIEWER)


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_leave_at_once_leave_one_behind(alice: User, bob: User) -> None:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    leaving = [member_of(alice), member_of(bob)]

    def leave() -> bool:
        try:
            members.leave_team(leaving.pop())
        except LastAdminError:
            return False
        return True

    assert sorted(call_at_once(leave, 2)) == [False, True]
    assert Member.objects.filter(role=Role.ADMIN).count() == 1


def test_the_team_is_locked_first(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    member = member_of(bob)
    tables = locked_tables(monkeypatch, lambda: members.change_role(member, Role.EDITOR, alice))
    assert tables[0] == "scoring_team"
