"""Members by groups: added, changed, removed; whoever an admin chose stays."""

from __future__ import annotations

import pytest

from scoring.engine.team import groups, members
from scoring.models import AuditEntry, GroupRole, Member, Role, Team, User

OTHER = "elsewhere"


@pytest.fixture
def dora(team: Team, alice: User) -> User:
    for group, role in {"staff": Role.EDITOR, "guests": Role.VIEWER, "heads": Role.ADMIN}.items():
        groups.set_group_role(team, group, role, alice)
    return User.objects.create_user("dora@example.org")


def role_of(user: User) -> Role | None:
    member = Member.objects.filter(user=user).first()
    return Role(member.role) if member else None


def test_the_largest_role_counts_and_follows_the_groups(dora: User) -> None:
    for said, role in [
        ({"guests", "staff", "others"}, Role.EDITOR),
        ({"guests"}, Role.VIEWER),
        (set(), None),
        ({"heads", "guests", "staff"}, Role.ADMIN),
        (set(), None),
    ]:
        groups.bring_up_to_date(dora, said)
        assert role_of(dora) == role


def test_who_is_taken_out_is_signed_out(dora: User) -> None:
    groups.bring_up_to_date(dora, {"staff"})
    before = dora.session_epoch
    groups.bring_up_to_date(dora, ())
    dora.refresh_from_db()
    assert dora.session_epoch == before + 1


def test_a_role_that_an_admin_gave_stays(team: Team, dora: User, alice: User, bob: User) -> None:
    groups.bring_up_to_date(bob, {"staff"})
    assert role_of(bob) == Role.VIEWER
    groups.bring_up_to_date(dora, {"guests"})
    members.change_role(Member.objects.get(user=dora), Role.REVIEWER, alice)
    groups.bring_up_to_date(dora, ())
    assert role_of(dora) == Role.REVIEWER


def test_the_last_admin_stays(dora: User, alice: User) -> None:
    groups.bring_up_to_date(dora, {"heads"})
    members.change_role(Member.objects.get(user=alice), Role.VIEWER, alice)
    groups.bring_up_to_date(dora, {"guests"})
    assert role_of(dora) == Role.ADMIN
    groups.bring_up_to_date(dora, ())
    assert role_of(dora) == Role.ADMIN


def test_a_group_may_have_a_place_in_several_teams(team: Team, dora: User, alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    groups.set_group_role(other, "staff", Role.VIEWER, alice)
    groups.bring_up_to_date(dora, {"staff"})
    assert dict(Member.objects.filter(user=dora).values_list("team", "role")) == {
        team.pk: Role.EDITOR,
        other.pk: Role.VIEWER,
    }
    assert groups.has_place_by({"staff"})
    assert not groups.has_place_by({"nobody"})


def test_changes_are_audited(team: Team, alice: User) -> None:
    row = groups.set_group_role(team, "staff", Role.EDITOR, alice)
    groups.set_group_role(team, "staff", Role.EDITOR, alice)
    groups.set_group_role(team, "staff", Role.VIEWER, alice)
    groups.remove_group_role(row, alice)
    told = AuditEntry.objects.order_by("pk").values_list("action", "old", "new")
    assert list(told) == [
        ("group_role.set", {}, {"role": "editor"}),
        ("group_role.set", {"role": "editor"}, {"role": "viewer"}),
        ("group_role.removed", {"role": "viewer"}, {}),
    ]
    assert not GroupRole.objects.exists()
