"""The people of the demo belong to its team, and nobody can sign in as one of them."""

from __future__ import annotations

import pytest
from django.contrib.auth import authenticate

from scoring.engine.demo.people import INES, MARA, PEOPLE, TOMAS, create_people
from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team.team import has_accounts, setup_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo() -> Team:
    return Team.objects.create(name="Demo", slug="demo")


def test_each_is_a_member_with_their_role(demo: Team) -> None:
    users = create_people(demo, None)
    roles = dict(Member.objects.filter(team=demo).values_list("user__name", "role"))
    assert roles == {MARA.name: Role.REVIEWER, TOMAS.name: Role.REVIEWER, INES.name: Role.EDITOR}
    assert users[MARA].email == "mara.lindqvist@demo.invalid"


def test_none_of_them_can_sign_in(demo: Team) -> None:
    for user in create_people(demo, None).values():
        assert not user.has_usable_password()
        assert not user.is_active
        assert not user.is_staff
        assert not user.is_superuser
        assert authenticate(username=user.email, password="") is None


def test_they_leave_the_set_up_link_valid(demo: Team) -> None:
    create_people(demo, None)
    assert not has_accounts()
    assert setup_token()


def test_the_same_people_join_the_next_demo(demo: Team) -> None:
    create_people(demo, None)
    demo.delete()
    create_people(Team.objects.create(name="Demo", slug="demo"), None)
    assert User.objects.count() == Member.objects.count() == len(PEOPLE)


def test_accounts_and_members_are_audited(demo: Team) -> None:
    create_people(demo, None)
    actions = list(AuditEntry.objects.values_list("action", flat=True))
    assert actions.count("user.created") == actions.count("member.added") == len(PEOPLE)
