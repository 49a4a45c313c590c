"""New teams, and other names for them."""

from __future__ import annotations

import pytest

from scoring.engine.team.teams import create_team, free_slug, may_create_teams, rename_team
from scoring.models import AuditEntry, Member, Role, Team, User


def test_who_creates_a_team_is_its_admin(alice: User) -> None:
    team = create_team("Second team", alice)
    assert team.slug == "second-team"
    assert Member.objects.get(team=team).role == Role.ADMIN
    entries = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(entries) == ["team.created", "member.added"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Support", "support-3"),
        ("Support 2", "support-2-2"),
        ("品質", "team"),
        ("x" * 80, "x" * 60),
    ],
)
def test_an_address_is_nobody_elses(name: str, slug: str) -> None:
    for taken in ("support", "support-2"):
        Team.objects.create(name=taken, slug=taken)
    assert free_slug(name) == slug


@pytest.mark.django_db
def test_a_long_address_leaves_room_for_its_number() -> None:
    Team.objects.create(name="long", slug="x" * 60)
    assert free_slug("x" * 80) == f"{'x' * 58}-2"


def test_a_team_keeps_its_address_under_another_name(team: Team, alice: User) -> None:
    rename_team(team, "Helpdesk", alice)
    rename_team(team, "Helpdesk", alice)
    team.refresh_from_db()
    assert (team.name, team.slug) == ("Helpdesk", "support")
    assert AuditEntry.objects.get().old == {"name": "Support"}


def test_admins_of_a_team_and_superusers_create_teams(alice: User, erin: User) -> None:
    assert may_create_teams(alice)
    assert not may_create_teams(erin)
    assert may_create_teams(User.objects.create_superuser("root@example.org", "a long word 7"))
