"""Every address, every role, every method: who gets in. An address that is not listed fails."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from scoring.engine import plan
from scoring.models import (
    Alert,
    AlertRule,
    AuditEntry,
    Comment,
    Connection,
    Errand,
    ErrandKind,
    Member,
    Output,
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
from tests.conftest import PASSWORD, MakeDataset, MakeOutputs
from tests.contracts.doors import ADMIN, API, CHANGES, EDITOR, OPEN, OWN, PAGES, REVIEWER, VIEWER

REFUSED = {401, 403, 404, 405}


def addresses() -> Iterator[tuple[str, str, list[str]]]:
    """(kind, name, parameters) of every address but Django's admin and allauth's own."""

    def walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, str, list[str]]]:
        for entry in resolver.url_patterns:
            route = prefix + str(entry.pattern)
            if isinstance(entry, URLPattern):
                name = entry.name or "unknown"
                is_page = not route.startswith("api/") or name == "api_docs"
                kind = "page" if is_page else "api"
                yield kind, name, list(entry.pattern.converters)
            elif not route.startswith(("admin/", "accounts/")):
                yield from walk(entry, route)

    yield from walk(get_resolver(), "")


def test_every_address_is_in_the_table() -> None:
    found = list(addresses())
    assert {name for kind, name, _ in found if kind == "page"} == set(PAGES)
    assert {name for kind, name, _ in found if kind == "api"} == set(API)


@pytest.fixture
def house(
    team: Team, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> dict[str, Any]:
    """One of everything a stranger may not see, by the parameter of the address it is named by."""
    version = make_dataset([{"input": "q", "expected": "a"}])
    scorer = Scorer.objects.define(team, "same", "exact_match", {}, by=alice)
    suite = Suite.objects.define(team, "release", [(scorer, None)], alice)
    run = plan.new_run(make_outputs(version, ["a"]), suite=suite, by=alice)
    upload = Upload.objects.create(
        team=team, file_name="cases.csv", spool_name="none", size_bytes=1, created_by=alice
    )
    url = "https://api.example.org/v1"
    connection = Connection.objects.define(team, "own", url, key="sk-0123456789", by=alice)
    errand = Errand.objects.create(team=team, kind=ErrandKind.TRY_SCORER, asked_by=alice)
    prompt = Errand.objects.create(team=team, kind=ErrandKind.TRY_PROMPT, asked_by=alice)
    asked = {"run": str(run.uuid), "type": "exact_match", "config": {}, "threshold": 1.0}
    asked |= {"held": None, "outputs": [], "near": 0, "left_out": 0}
    preview = Errand.objects.create(team=team, kind=ErrandKind.PREVIEW_SCORER, request=asked)
    deleted = plan.new_run(make_outputs(version, ["a"]), suite=suite, by=alice)
    Run.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    rules = [
        AlertRule.objects.define(team, version.dataset, by=alice, kind="no_data", limit=days).rule
        for days in range(1, 4)
    ]
    rules[2].remove(by=alice)
    return {
        "delete_alert_rule": rules[1],
        "restore_alert_rule": rules[2],
        "alert_rule": rules[0],
        "acknowledge_alert": Alert.objects.create(rule=rules[0], sentence="It fell."),
        "dataset": version.dataset,
        "tried_prompt": prompt,
        "tried": errand,
        "previewed": preview,
        "run": run,
        "scorer": scorer,
        "suite": suite,
        "upload": upload,
        "connection": connection,
        "outputs": run.output_set,
        "deleted run": deleted,
        "comment": Comment.objects.add(run, Output.objects.all()[0], "Why?", by=alice),
        "kept view": SavedView.objects.keep(team, "worst", "sort=same", by=alice, is_shared=True),
    }


def parameters(name: str, wanted: list[str], house: dict[str, Any], team: Team) -> dict[str, Any]:
    noun = next((noun for noun in house if noun in name), "dataset")
    if name == "versions" or name.startswith("dataset") or name in {"new_run", "generate_run"}:
        noun = "dataset"
    if name.endswith(("_view", "_comment")) or name in {"ticked_cases", "review_case"}:
        noun = "run"
    if name == "restore_run":
        noun = "deleted run"
    known = {
        "slug": team.slug,
        "uid": house[noun].uuid,
        "position": 1,
        "place": 0,
        "view": house["kept view"].uuid,
        "comment": house["comment"].uuid,
        "number": 1,
        "token": "no-such-token",
        "type_name": "exact_match",
    }
    return {parameter: known[parameter] for parameter in wanted}


def listed() -> list[tuple[str, str, list[str]]]:
    return [entry for entry in addresses() if entry[1] != "unknown"]


def url_of(kind: str, name: str, wanted: list[str], house: dict[str, Any], team: Team) -> str:
    space = "" if kind == "page" or name == "api_schema" else "api:"
    return reverse(space + name, kwargs=parameters(name, wanted, house, team))


def answers(client: Client, kind: str, url: str) -> dict[str, int]:
    """Status by method; bodies are empty, since nobody should get as far as reading them."""
    sent: dict[str, Any] = {"content_type": "application/json"} if kind == "api" else {}
    methods = ("get", "post", "put", "patch", "delete")
    return {method: getattr(client, method)(url, **sent).status_code for method in methods}


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def wrong(
    client: Client,
    house: dict[str, Any],
    team: Team,
    right: Callable[[str, Any, list[str], int], bool],
) -> list[str]:
    """What this client got and should not have got, for every address and method.

    `right` is given the kind of address, what the method asks for (`"other"` for a method no
    address offers), the address's parameters, and the status.
    """
    found = []
    for kind, name, wanted in listed():
        got = answers(client, kind, url_of(kind, name, wanted, house, team))
        get, post = (PAGES if kind == "page" else API)[name]
        needs = {"get": get, "post": post, "put": "other", "patch": "other", "delete": "other"}
        needs |= CHANGES.get(name, {}) if kind == "api" else {}
        found += [
            f"{method} {kind} {name}: {got[method]}"
            for method, need in needs.items()
            if not right(kind, need, wanted, got[method])
        ]
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

    assert wrong(signed_in(charlie), house, team, right) == []


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


def test_a_viewer_reads_and_writes_nothing(house: dict[str, Any], team: Team, bob: User) -> None:
    def right(_: str, need: Any, __: list[str], status: int) -> bool:
        expected = {VIEWER: {200}, "other": REFUSED | {410}}
        expected |= {role: {403} for role in (REVIEWER, EDITOR, ADMIN)}
        return status in expected.get(need, {status})

    assert wrong(signed_in(bob), house, team, right) == []


@pytest.mark.parametrize("role", [REVIEWER, EDITOR])
def test_a_role_is_refused_nothing_that_is_offered_to_it(
    house: dict[str, Any], team: Team, role: Role
) -> None:
    member = User.objects.create_user("erin@example.org", PASSWORD)
    Member.objects.create(team=team, user=member, role=role)

    def right(_: str, need: Any, wanted: list[str], status: int) -> bool:
        if need in {None, "other"}:
            return status in {405, 410}
        if isinstance(need, Role) and need > role:
            is_unsaid = not wanted and status == 400  # of which team: the demo is one now, too
            return status == 403 or is_unsaid
        return need in {OPEN, OWN} or status not in REFUSED

    assert wrong(signed_in(member), house, team, right) == []


def test_an_admin_is_refused_nothing_that_is_offered(
    house: dict[str, Any], team: Team, alice: User
) -> None:
    """Removing comes last, so everything else is still there to be asked for."""

    def right(_: str, need: Any, __: list[str], status: int) -> bool:
        if need in {None, "other"}:
            return status in {405, 410}
        return need in {OPEN, OWN} or status not in REFUSED

    assert wrong(signed_in(alice), house, team, right) == []
    assert not Connection.objects.filter(team=team).exists()


def test_a_viewers_attempts_change_nothing(house: dict[str, Any], bob: User, team: Team) -> None:
    def everything() -> list[Any]:
        kept = (Run, SavedView, Scorer, Suite, Upload, Connection, Errand, AlertRule, Alert)
        said = (Review, Comment, AuditEntry)
        return [list(row._base_manager.values()) for row in (*kept, *said)]

    before = everything()
    for kind, name, wanted in listed():
        answers(signed_in(bob), kind, url_of(kind, name, wanted, house, team))
    assert everything() == before
