"""What a token may do is the smaller of its role and its scopes, and it signs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scoring.models import Role, Scope, Team, Token, User
from tests.api.conftest import Api
from tests.contracts.addresses import parameters_of, url_of
from tests.contracts.doors import API, CHANGES, SCOPES, SIGNED

Change = tuple[str, str, Role | str]  # address, method, what it asks for


def changes() -> Iterator[Change]:
    """Every method of the API that is not safe."""
    for name, (_, post) in API.items():
        if post is not None:
            yield name, "post", post
    for name, methods in CHANGES.items():
        for method, need in methods.items():
            yield name, method, need


def program(team: Team, user: User, scopes: list[str], role: Role = Role.ADMIN) -> Api:
    return Api(Token.objects.issue(team, user, "a program", role, scopes=scopes)[1])


def answer(api: Api, name: str, method: str, house: dict[str, Any], team: Team) -> tuple[int, str]:
    """Status and code of the answer to a body without anything in it."""
    url = url_of("api", name, parameters_of("api", name), house, team)
    send = getattr(api.client, method)
    sent = {} if method == "get" else {"data": "{}", "content_type": "application/json"}
    response = send(url, **sent, headers=api.headers)
    is_json = response.headers.get("Content-Type") == "application/json"
    body = response.json() if is_json and not response.streaming else {}
    return response.status_code, body.get("code", "") if isinstance(body, dict) else ""


def test_every_change_has_its_scope() -> None:
    assert {name for name, _, _ in changes()} == set(SCOPES)
    assert set(SCOPES.values()) == set(Scope.values) - {Scope.READ}


@pytest.mark.long("every change is asked twice")
def test_a_token_without_the_scope_is_refused_and_with_it_is_not(
    house: dict[str, Any], team: Team, alice: User
) -> None:
    wrong = []
    with_it = {scope: program(team, alice, [scope]) for scope in Scope.values}
    without = {
        scope: program(team, alice, [each for each in Scope.values if each != scope])
        for scope in Scope.values
    }
    for name, method, _ in changes():
        scope = SCOPES[name]
        if answer(without[scope], name, method, house, team) != (403, "scope_missing"):
            wrong.append(f"{method} {name} without {scope}")
        if answer(with_it[scope], name, method, house, team)[1] == "scope_missing":
            wrong.append(f"{method} {name} with {scope}")
    assert wrong == []


def test_reading_takes_a_scope_too(house: dict[str, Any], team: Team, alice: User) -> None:
    reads, uploads = (program(team, alice, [scope]) for scope in ("read", "upload"))
    for name, (get, _) in API.items():
        if get is None:
            continue
        refused = answer(uploads, name, "get", house, team)
        assert name == "api_schema" or refused == (403, "scope_missing"), name
        assert answer(reads, name, "get", house, team)[1] != "scope_missing", name


def test_scopes_add_nothing_to_a_role(house: dict[str, Any], team: Team, alice: User) -> None:
    """Whoever owns the token, and whatever its scopes are."""
    viewer = program(team, alice, list(Scope.values), Role.VIEWER)
    for name, method, need in changes():
        if isinstance(need, Role) and need > Role.VIEWER:
            assert answer(viewer, name, method, house, team)[0] == 403, (name, method)


def test_a_role_of_the_token_adds_nothing_to_its_owners(
    house: dict[str, Any], team: Team, bob: User
) -> None:
    admins = program(team, bob, list(Scope.values), Role.ADMIN)
    for name, method, need in changes():
        if isinstance(need, Role) and need > Role.VIEWER:
            assert answer(admins, name, method, house, team)[0] == 403, (name, method)


def test_no_token_signs(house: dict[str, Any], team: Team, alice: User) -> None:
    owners = (alice, house["the account"].user)
    programs = [program(team, owner, list(Scope.values)) for owner in owners]
    for api in programs:
        for name, method, _ in changes():
            is_refused = answer(api, name, method, house, team)[1] == "person_required"
            # A threshold's body is read first: it may be about a missing suite.
            is_signed = (name, method) in SIGNED and name != "thresholds"
            assert is_refused == is_signed, (name, method)
