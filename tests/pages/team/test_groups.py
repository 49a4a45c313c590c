"""Groups with a role, on the page of members."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.env import SingleSignOn
from scoring.engine.team.groups import bring_up_to_date
from scoring.models import GroupRole, Role, Team, User
from tests.support.fixtures.single_sign_on import set_sso

BrowserOf = Callable[[User], Client]


@pytest.fixture
def admin(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def sso(settings: Settings) -> None:
    set_sso(settings, SingleSignOn("https://id.example", "evalsite", "", "Example ID"))


@pytest.mark.usefixtures("sso")
def test_a_group_gets_a_role_and_loses_it(admin: Client, team: Team) -> None:
    url = reverse("group_roles", args=[team.slug])
    page = admin.post(url, {"group": "staff", "role": "3"}, follow=True).text
    assert "staff has the role editor, from the next sign-in on." in page
    row = GroupRole.objects.get(team=team)
    assert (row.group, row.role) == ("staff", Role.EDITOR)
    dora = User.objects.create_user("dora@example.org")
    bring_up_to_date(dora, {"staff"})
    assert "by group" in admin.get(reverse("members", args=[team.slug])).text
    gone = reverse("remove_group_role", args=[team.slug, row.pk])
    assert "staff has no role any more." in admin.post(gone, follow=True).text
    assert not GroupRole.objects.exists()


@pytest.mark.usefixtures("sso")
@pytest.mark.parametrize(
    "given",
    [{"group": "", "role": "3"}, {"group": "a\nb", "role": "3"}, {"group": "a", "role": "9"}],
)
def test_what_is_no_group_or_role_is_refused(
    admin: Client, team: Team, given: dict[str, str]
) -> None:
    answer = admin.post(reverse("group_roles", args=[team.slug]), given)
    assert answer.status_code == 422
    assert "Group not added" in answer.text
    assert not GroupRole.objects.exists()


def test_without_single_sign_on_there_is_no_such_section(admin: Client, team: Team) -> None:
    assert "groups-title" not in admin.get(reverse("members", args=[team.slug])).text
