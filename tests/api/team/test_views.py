"""Teams, members, invitations, tokens and the audit log through the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.team.tokens import create_service_account
from scoring.models import AuditEntry, Invitation, Member, ReviewQueue, Role, Team, Token, User
from tests.api.conftest import MISSING, Api, ApiOf, codes
from tests.api.openapi.test_schema import check_answer
from tests.support.fixtures.house import house

__all__ = ["house"]


def test_a_person_sees_their_teams_and_a_program_its_own(
    alice: User, alice_in_person: Api, alices: Api, team: Team
) -> None:
    second = Team.objects.create(name="Second", slug="second")
    Member.objects.create(team=second, user=alice, role=Role.VIEWER)
    listed = alice_in_person.get("teams/")
    check_answer(listed, "teams/", "get")
    rows = [(row["slug"], row["role"]) for row in listed.json()["results"]]
    assert rows == [("second", "viewer"), ("support", "admin")]
    assert [row["id"] for row in alices.get("teams/").json()["results"]] == [str(team.uuid)]


def test_members_are_listed_with_service_accounts(bobs: Api, alice: User, team: Team) -> None:
    create_service_account(team, "nightly", Role.EDITOR, alice)
    listed = bobs.get("members/")
    check_answer(listed, "members/", "get")
    rows = [
        (row["name"], row["role"], row["is_service_account"]) for row in listed.json()["results"]
    ]
    assert rows[0] == ("nightly", "editor", True)  # the newest
    assert set(rows[1:]) == {("", "viewer", False), ("", "admin", False)}


def test_an_invitation_is_made_listed_and_revoked(
    alices: Api, team: Team, settings: Settings
) -> None:
    settings.EVALSITE_URL = "https://evals.example.org/"
    made = alices.post("invitations/", {"email": "Jo@example.org", "role": "reviewer"})
    assert made.status_code == 201
    check_answer(made, "invitations/", "post")
    row = made.json()
    invitation = Invitation.objects.get()
    assert row["link"] == f"https://evals.example.org/invitations/{invitation.key}/"
    assert (row["email"], row["role"]) == ("jo@example.org", "reviewer")
    listed = alices.get("invitations/")
    check_answer(listed, "invitations/", "get")
    assert [each["id"] for each in listed.json()["results"]] == [row["id"]]
    for _ in range(2):
        assert alices.delete(f"invitations/{row['id']}/").status_code == 204
    assert alices.get("invitations/").json()["results"] == []


def test_the_link_of_one_that_was_asked_for_is_the_mailboxs_alone(alices: Api, team: Team) -> None:
    Invitation.objects.create(team=team, email="a@example.org", is_requested=True)
    (row,) = alices.get("invitations/").json()["results"]
    assert row["link"] is None


def test_a_member_is_not_invited(alices: Api, bob: User) -> None:
    refused = alices.post("invitations/", {"email": bob.email})
    assert (refused.status_code, refused.json()["code"]) == (409, "already_member")


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        ({}, ("email", "required")),
        ({"email": "x"}, ("email", "invalid")),
        ({"email": "a@example.org", "role": "owner"}, ("role", "invalid_choice")),
        ({"email": "a@example.org", "why": ""}, ("why", "unknown_field")),
    ],
)
def test_an_unsound_invitation_is_refused(
    alices: Api, sent: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert codes(alices.post("invitations/", sent)) == [fault]


def test_a_token_is_made_in_person_and_works(alice_in_person: Api, alice: User, team: Team) -> None:
    made = alice_in_person.post("tokens/", {"name": "ci", "scopes": ["read", "read"], "days": 1})
    assert made.status_code == 201
    check_answer(made, "tokens/", "post")
    row = made.json()
    program = Api(row["secret"])
    assert program.get("scorers/").status_code == 200
    listed = alice_in_person.get("tokens/")
    check_answer(listed, "tokens/", "get")
    (shown,) = listed.json()["results"]
    assert "secret" not in shown
    assert (shown["role"], shown["scopes"], shown["acts_for"]) == ("editor", ["read"], str(alice))
    assert shown["last_used_at"]
    assert alice_in_person.delete(f"tokens/{row['id']}/").status_code == 204
    assert program.get("scorers/").status_code == 401


def test_a_token_acts_for_a_service_account(alice_in_person: Api, alice: User, team: Team) -> None:
    account = create_service_account(team, "nightly", Role.EDITOR, alice)
    body = {"name": "ci", "service_account": "nightly", "days": None}
    assert alice_in_person.post("tokens/", body).json()["expires_at"] is None
    assert Token.objects.get().user == account.user
    unknown = alice_in_person.post("tokens/", body | {"service_account": str(alice)})
    assert codes(unknown) == [("service_account", "does_not_exist")]


def test_a_secret_is_kept_nowhere(alice_in_person: Api, team: Team) -> None:
    """Not for a repeated request either."""
    made = alice_in_person.post("tokens/", {"name": "ci"}, Idempotency_Key="k")
    again = alice_in_person.post("tokens/", {"name": "ci"}, Idempotency_Key="k")
    assert made.json()["secret"] != again.json()["secret"]


def test_admins_alone_see_invitations_tokens_and_the_log(bobs: Api, charlies: Api) -> None:
    for path in ("invitations/", "tokens/", "audit/"):
        assert bobs.get(path).status_code == 403
        assert charlies.get(path).json()["results"] == [] or path != "invitations/"
    for path in ("invitations/", "tokens/"):
        assert charlies.delete(f"{path}{MISSING}/").status_code == 404


def test_the_log_is_read_and_narrowed(
    alices: Api, team: Team, alice: User, bob: User, charlie: User
) -> None:
    before = timezone.now()
    AuditEntry.objects.record(team, alice, "team.renamed", team, new={"name": "x"})
    AuditEntry.objects.record(team, bob, "comment.added", bob)
    AuditEntry.objects.record(Team.objects.get(slug="elsewhere"), charlie, "team.renamed", team)
    listed = alices.get("audit/")
    check_answer(listed, "audit/", "get")
    assert [row["action"] for row in listed.json()["results"]] == ["comment.added", "team.renamed"]
    assert [row["who"] for row in alices.get("audit/", object="team").json()["results"]] == [
        alice.email
    ]
    assert alices.get("audit/", who="bob", action="team").json()["results"] == []
    assert len(alices.get("audit/", since=before.isoformat()).json()["results"]) == 2
    assert alices.get("audit/", before=before.isoformat()).json()["results"] == []
    assert alices.get("audit/", since="yesterday").status_code == 400
    assert alices.get("audit/", whom="bob").status_code == 400


def test_what_others_said_is_hidden_from_who_still_reviews(
    api_of: ApiOf, house: dict[str, Any], team: Team, alice: User, bob: User
) -> None:
    queue: ReviewQueue = house["review"]
    AuditEntry.objects.record(team, bob, "review.said", queue, new={"verdict": "fail"})
    (row, *_) = api_of(alice).get("audit/").json()["results"]
    assert (row["action"], row["object"], row["new"]) == ("review.said", None, None)
    assert api_of(alice).get("audit/", object=queue.name).json()["results"] == []
