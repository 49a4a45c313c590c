"""Which team a request is about, and what its token lets it do there."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import Member, Role, Scorer, Team, Token, User
from tests.api.conftest import API, Api, ApiOf
from tests.api.test_authentication import CLOSE, BrowserOf, token
from tests.support.undone import undone

__all__ = ["token"]


def test_a_token_reaches_only_its_team(token: tuple[Token, str], alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    Member.objects.create(team=other, user=alice, role=Role.ADMIN)
    theirs = Scorer.objects.define(other, "theirs", "exact_match", {})
    program = Api(token[1])
    assert program.get("scorers/").json()["results"] == []
    assert program.get("scorers/", team="other").status_code == 404
    assert program.get(f"scorers/{theirs.uuid}/").status_code == 404


def test_a_session_in_several_teams_has_to_choose(browser_of: BrowserOf, alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    Member.objects.create(team=other, user=alice, role=Role.VIEWER)
    browser = browser_of(alice)
    unnamed = browser.get(f"{API}scorers/")
    assert (unnamed.status_code, unnamed.json()["code"]) == (400, "team_required")
    post: dict[str, Any] = {"content_type": "application/json", "data": CLOSE}
    assert browser.post(f"{API}scorers/?team=support", **post).status_code == 201
    assert browser.post(f"{API}scorers/?team=other", **post).status_code == 403
    assert browser.post(f"{API}scorers/?team=nowhere", **post).status_code == 404


def test_a_session_in_no_team_is_told_so(browser_of: BrowserOf, db: None) -> None:
    nobody = User.objects.create_user("dora@example.org")
    response = browser_of(nobody).get(f"{API}scorers/")
    assert (response.status_code, response.json()["code"]) == (400, "team_required")


def test_the_smaller_role_of_member_and_token_counts(
    api_of: ApiOf, alice: User, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Role, Role, int]] = [
        (Role.ADMIN, Role.EDITOR, 201),
        (Role.ADMIN, Role.REVIEWER, 403),
        (Role.EDITOR, Role.ADMIN, 201),
        (Role.REVIEWER, Role.ADMIN, 403),
        (Role.VIEWER, Role.ADMIN, 403),
    ]
    for member, token_role, status in cases:
        with subtests.test(member=member, token_role=token_role, status=status), undone():
            Member.objects.filter(user=alice).update(role=member)
            program = api_of(alice, token_role)
            assert program.get("scorers/").status_code == 200
            response = program.post("scorers/", CLOSE)
            assert response.status_code == status
            if status == 403:
                assert response.json()["code"] == "permission_denied"
                held = min(member, token_role).label
                said = response.json()["message"]
                needed, _, who = said.partition(" Admins of the team: ")
                assert needed == f"This needs the role editor; yours is {held}."
                assert who == ("alice@example.org." if member == Role.ADMIN else "")
