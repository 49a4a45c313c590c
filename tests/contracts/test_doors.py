"""Every address, every role, every method: who gets in. An address that is not listed fails."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.templatetags.static import static
from django.test import Client

from scoring.models import (
    Alert,
    AlertRule,
    AuditEntry,
    Comment,
    Connection,
    Job,
    Member,
    Review,
    Role,
    Run,
    SavedView,
    Scorer,
    Suite,
    Team,
    Upload,
    User,
)
from tests.conftest import PASSWORD
from tests.contracts.addresses import addresses, listed, parameters, url_of
from tests.contracts.doors import (
    ADMIN,
    API,
    CHANGES,
    EDITOR,
    INCOMPLETE,
    OPEN,
    OWN,
    PAGES,
    REVIEWER,
    VIEWER,
)
from tests.support.thoroughness import IS_THOROUGH

REFUSED = {401, 403, 404, 405}
Asks = Callable[[Any], bool]


@pytest.fixture(autouse=True)
def _demo_without_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its team is enough here, and made at once."""
    monkeypatch.setattr("scoring.engine.demo.load.STORIES", ())


def test_every_address_is_in_the_table() -> None:
    found = list(addresses())
    assert {name for kind, name, _ in found if kind == "page"} == set(PAGES)
    assert {name for kind, name, _ in found if kind == "api"} == set(API)


def answer(client: Client, kind: str, method: str, url: str) -> HttpResponse:
    """The answer to an empty body, since nobody should get as far as reading it."""
    sent: dict[str, Any] = {"content_type": "application/json"} if kind == "api" else {}
    response: HttpResponse = getattr(client, method)(url, **sent)
    return response


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def wrong(
    client: Client,
    house: dict[str, Any],
    team: Team,
    right: Callable[[str, Any, list[str], int], bool],
    asks: Asks = lambda need: True,
) -> list[str]:
    """What this client got and should not have got, for every address and method.

    No answer to a person may be kept by a cache. `right` is given the kind of address, what the
    method asks for (`"other"` for a method no address offers), the address's parameters, and the
    status. Of the methods only those are tried whose need `asks` names, unless all are wished for.
    """
    found = []
    for kind, name, wanted in listed():
        url = url_of(kind, name, wanted, house, team)
        get, post = (PAGES if kind == "page" else API)[name]
        needs = {"get": get, "post": post, "put": "other", "patch": "other", "delete": "other"}
        needs |= CHANGES.get(name, {}) if kind == "api" else {}
        for method, need in needs.items():
            if not (IS_THOROUGH or asks(need)):
                continue
            response = answer(client, kind, method, url)
            status = response.status_code
            if (kind, method) == ("api", "get") and status == INCOMPLETE.get(name):
                status = 200
            if not right(kind, need, wanted, status):
                found.append(f"{method} {kind} {name}: {response.status_code}")
            if "no-store" not in response.headers.get("Cache-Control", ""):
                found.append(f"{method} {kind} {name}: may be kept by a cache")
    return found


def test_nobody_gets_in_without_signing_in(
    client: Client, house: dict[str, Any], team: Team
) -> None:
    def right(kind: str, need: Any, _: list[str], status: int) -> bool:
        if need == OPEN:
            return status not in {401, 403, 405}
        return status in ({302, 405, 410} if kind == "page" else {401, 405})

    assert wrong(client, house, team, right) == []


def test_a_stranger_finds_nothing_of_the_team(
    house: dict[str, Any], team: Team, charlie: User
) -> None:
    def right(_: str, need: Any, wanted: list[str], status: int) -> bool:
        if isinstance(need, Role) and wanted:
            return status == 404
        return need != "other" or status in REFUSED | {410}

    def asks(need: Any) -> bool:
        return isinstance(need, Role)

    assert wrong(signed_in(charlie), house, team, right, asks) == []


def test_what_a_stranger_gets_equals_what_a_missing_object_gives(
    house: dict[str, Any], team: Team, charlie: User
) -> None:
    client = signed_in(charlie)
    for kind, name, wanted in listed():
        if "uid" not in wanted or not isinstance((PAGES if kind == "page" else API)[name][0], Role):
            continue
        there = url_of(kind, name, wanted, house, team)
        uid = str(parameters(name, wanted, house, team)["uid"])
        nowhere = there.replace(uid, str(uuid.uuid4()))
        one, other = client.get(there), client.get(nowhere)
        assert one.status_code == other.status_code == 404, name
        assert _masked(one.content, there) == _masked(other.content, nowhere), name


def _masked(content: bytes, url: str) -> str:
    """The page without what differs from answer to answer: its address and its CSRF token."""
    return re.sub(r"\b[A-Za-z0-9]{64}\b", "TOKEN", content.decode().replace(url, "URL"))


@pytest.mark.long("every address is asked")
def test_a_viewer_reads_and_changes_nothing(house: dict[str, Any], team: Team, bob: User) -> None:
    def right(_: str, need: Any, __: list[str], status: int) -> bool:
        expected = {VIEWER: {200}, "other": REFUSED | {410}}
        expected |= {role: {403} for role in (REVIEWER, EDITOR, ADMIN)}
        return status in expected.get(need, {status})

    def asks(need: Any) -> bool:
        return isinstance(need, Role)

    before = everything()
    assert wrong(signed_in(bob), house, team, right, asks) == []
    assert everything() == before


def everything() -> list[Any]:
    kept = (Run, SavedView, Scorer, Suite, Upload, Connection, Job, AlertRule, Alert)
    said = (Review, Comment, AuditEntry)
    return [list(row._base_manager.values()) for row in (*kept, *said)]


@pytest.mark.parametrize("role", [REVIEWER, EDITOR])
def test_a_role_is_refused_nothing_that_is_offered_to_it(
    house: dict[str, Any], team: Team, role: Role
) -> None:
    """A viewer and an admin go everywhere; here what is just within reach, and just beyond."""
    member = User.objects.create_user("erin@example.org", PASSWORD)
    Member.objects.create(team=team, user=member, role=role)

    def right(_: str, need: Any, wanted: list[str], status: int) -> bool:
        if need in {None, "other"}:
            return status in {405, 410}
        if isinstance(need, Role) and need > role:
            is_unsaid = not wanted and status == 400  # of which team: the demo is one now, too
            return status == 403 or is_unsaid
        return need in {OPEN, OWN} or status not in REFUSED

    def asks(need: Any) -> bool:
        return isinstance(need, Role) and need in {role, role + 1}

    assert wrong(signed_in(member), house, team, right, asks) == []


@pytest.mark.long("nearly every address is asked")
def test_an_admin_is_refused_nothing_that_is_offered(
    house: dict[str, Any], team: Team, alice: User
) -> None:
    """Removing comes last, so everything else is still there to be asked for.

    What an editor may do, too, is asked for by the editor.
    """

    def right(_: str, need: Any, __: list[str], status: int) -> bool:
        if need in {None, "other"}:
            return status in {405, 410}
        return need in {OPEN, OWN} or status not in REFUSED

    def asks(need: Any) -> bool:
        return not isinstance(need, Role) or need == ADMIN

    assert wrong(signed_in(alice), house, team, right, asks) == []
    assert not Connection.objects.filter(team=team).exists()


def test_no_fragment_is_kept_by_a_cache(house: dict[str, Any], alice: User, team: Team) -> None:
    client = signed_in(alice)
    headers = {"HX-Request": "true", "HX-Target": "cases"}
    cached = []
    for kind, name, wanted in listed():
        if kind != "page":
            continue
        response = client.get(url_of(kind, name, wanted, house, team), headers=headers)
        if "no-store" not in response.headers.get("Cache-Control", ""):
            cached.append(f"{name}: {response.status_code}")
    assert cached == []


@pytest.mark.parametrize("url", ["/nowhere/", "/api/v1/nowhere/", "/admin/", "/accounts/login/"])
def test_what_is_not_in_the_table_is_kept_by_no_cache_either(alice: User, url: str) -> None:
    assert "no-store" in signed_in(alice).get(url).headers["Cache-Control"]


def test_static_files_may_be_kept(client: Client, db: None) -> None:
    answer = client.get(static("icon.svg"))
    answer.close()
    assert answer.status_code == 200
    assert "no-store" not in answer.headers["Cache-Control"]
