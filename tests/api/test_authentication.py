"""Who may speak to the API: tokens, sessions, teams and roles."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scoring.models import Role, Scorer, Team, Token, User
from scoring.models.team.attempt_counter import MAX_PER_ADDRESS
from tests.api.conftest import API, Api

CLOSE = {"name": "close", "type": "levenshtein"}
BrowserOf = Callable[[User], Client]


@pytest.fixture
def token(team: Team, alice: User) -> tuple[Token, str]:
    return Token.objects.issue(team, alice, "a program", Role.EDITOR)


def test_nobody_is_let_in_without_a_token(db: None) -> None:
    response = Api().get("scorers/")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert response.json()["code"] == "not_authenticated"


@pytest.mark.parametrize(
    "header", ["Token", "Token ", "Token evs_x", "token evs_\u00e9", "Token a b c"]
)
def test_a_wrong_token_is_refused(db: None, header: str) -> None:
    response = Api(Authorization=header).get("scorers/")
    assert (response.status_code, response.json()["code"]) == (401, "bad_token")


def test_wrong_tokens_end_with_429_for_their_address(token: tuple[Token, str]) -> None:
    guesser = Api("evs_x")
    codes = [guesser.get("scorers/").status_code for _ in range(MAX_PER_ADDRESS + 1)]
    assert codes == [401] * MAX_PER_ADDRESS + [429]
    refused = guesser.get("scorers/")
    assert refused.json()["code"] == "too_many_requests"
    assert 0 < int(refused["Retry-After"]) <= 900
    assert Api(token[1]).get("scorers/").status_code == 200  # a program beside it
    elsewhere = guesser.client.get(f"{API}scorers/", headers=guesser.headers, REMOTE_ADDR="::1")
    assert elsewhere.status_code == 401


@pytest.mark.parametrize("header", ["Bearer evs_x", "Basic YTpi", "evs_x"])
def test_another_scheme_counts_as_none(db: None, header: str) -> None:
    response = Api(Authorization=header).get("scorers/")
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


def test_anothers_object_answers_exactly_like_a_missing_one(
    alices: Api, charlies: Api, close_enough: Scorer
) -> None:
    theirs = charlies.get(f"scorers/{close_enough.uuid}/")
    missing = charlies.get("scorers/01890000-0000-7000-8000-000000000000/")
    assert theirs.status_code == missing.status_code == 404
    assert theirs.content == missing.content
    ids = {answer.headers.pop("X-Request-ID") for answer in (theirs, missing)}
    assert theirs.headers == missing.headers
    assert len(ids) == 2
    assert alices.get(f"scorers/{close_enough.uuid}/").status_code == 200


def test_a_session_reads_without_a_token(browser_of: BrowserOf, bob: User) -> None:
    assert browser_of(bob).get(f"{API}scorers/").status_code == 200


def test_a_session_writes_only_with_the_csrf_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    refused = client.post(f"{API}scorers/", CLOSE, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    client.cookies["csrftoken"] = "a" * 32
    allowed = client.post(
        f"{API}scorers/",
        CLOSE,
        content_type="application/json",
        headers={"X-CSRFToken": "a" * 32},
    )
    assert allowed.status_code == 201
