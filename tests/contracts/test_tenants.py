"""Two teams with one of everything: neither finds, names or changes a thing of the other."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import pytest
from django.contrib.admin.sites import site
from django.core.files.uploadedfile import UploadedFile
from django.db import models
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, Case, Output, Role, Team, Token, User
from tests.contracts.addresses import listed, parameters, url_of
from tests.contracts.audit_steps import Desk
from tests.contracts.audited import RECORDED, UNRECORDED
from tests.contracts.doors import API, CHANGES, PAGES
from tests.contracts.test_audited import desk, for_one_change
from tests.pages.conftest import spool
from tests.support.datasets import published_version, ready_outputs
from tests.support.fixtures.house import furnish
from tests.support.thoroughness import IS_THOROUGH

__all__ = ["desk", "spool"]

CANARY: Final = "canary"
#: The parts of addresses that name an object, and which one of a house.
QUERY: Final[Mapping[str, str]] = {
    "dataset": "dataset",
    "run": "run",
    "runs": "run",
    "baseline": "run",
    "candidate": "run",
    "candidates": "run",
    "against": "run",
    "change": "run",
    "suite": "suite",
    "scorer": "scorer",
    "sort": "scorer",
    "outputs": "outputs",
    "queue": "review",
    "undo": "alert_rule",
    "copy": "scorer",
    "connection": "connection",
    "view": "kept view",
}
#: Fields of rows in which people wrote something.
WRITTEN: Final = {"name", "reason", "text", "note", "sentence", "rationale", "file_name", "domain"}


@pytest.fixture(autouse=True)
def _demo_without_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its team is enough here, and made at once."""
    monkeypatch.setattr("scoring.engine.demo.load.STORIES", ())


@pytest.fixture
def elsewhere(charlie: User) -> Team:
    return charlie.memberships.get().team


@pytest.fixture
def foreign(elsewhere: Team, charlie: User) -> dict[str, Any]:
    """The house of the other team, in which every text says whose it is."""
    house = furnish(elsewhere, charlie, partial(published_version, elsewhere), ready_outputs)
    for noun, row in house.items():
        written = {field.name for field in row._meta.concrete_fields} & WRITTEN
        said = f"{CANARY} {noun}"
        type(row)._base_manager.filter(pk=row.pk).update(**dict.fromkeys(written, said))
    Case.objects.filter(version__dataset__team=elsewhere).update(input_json=f'"{CANARY}"')
    Output.objects.filter(case__version__dataset__team=elsewhere).update(text=CANARY)
    return house


@pytest.fixture
def ids(foreign: dict[str, Any]) -> set[str]:
    """The ids of everything in the other team's house."""
    return {str(row.uuid) for row in foreign.values() if hasattr(row, "uuid")}


def content(answer: HttpResponse) -> str:
    chunks: Any = answer if answer.streaming else [answer.content]
    return b"".join(chunks).decode(errors="replace")


def told(answer: HttpResponse, ids: set[str], sent: str = "") -> list[str]:
    """What the answer tells of the other team, beside the ids that were sent."""
    text = content(answer)
    return [secret for secret in {CANARY, *ids} if secret in text and secret not in sent]


def reading(house: dict[str, Any], team: Team) -> Iterator[tuple[str, str]]:
    """The name and the URL of every address that is read."""
    for kind, name, wanted in listed():
        if (PAGES if kind == "page" else API)[name][0] is not None and name != "setup":
            yield name, url_of(kind, name, wanted, house, team)


def test_no_page_list_or_export_shows_a_row_of_another_team(
    house: dict[str, Any], foreign: dict[str, Any], ids: set[str], team: Team, alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    found = {name: told(client.get(url), ids) for name, url in reading(house, team)}
    assert {name: secrets for name, secrets in found.items() if secrets} == {}


@pytest.mark.long("every address is asked with each parameter")
def test_a_foreign_id_in_a_query_tells_nothing(
    house: dict[str, Any], foreign: dict[str, Any], ids: set[str], team: Team, alice: User
) -> None:
    """One parameter at a time with all tests; else all that name a kind of object together."""
    client = Client()
    client.force_login(alice)
    foreign_ids = {name: str(foreign[noun].uuid) for name, noun in QUERY.items()}
    queries = [{name: uid} for name, uid in foreign_ids.items()]
    queries.append({"team": "elsewhere"})
    if not IS_THOROUGH:
        pairs = ("baseline", "candidate"), ("dataset", "suite", "queue"), ("run", "runs", "outputs")
        queries = [{name: foreign_ids[name] for name in names} for names in pairs]
        queries += [{"team": "elsewhere"}, {"scorer": foreign_ids["scorer"]}]
    found = {}
    for name, url in reading(house, team):
        for query in queries:
            answer = client.get(url, query)
            assert answer.status_code < 500 or name == "healthz", (name, query)
            if secrets := told(answer, ids, str(query)):
                found[name, str(query)] = secrets
    assert found == {}


def swapped(sent: Any, own: dict[str, Any], foreign: dict[str, Any]) -> Any:
    """What is sent, with the other team's ids in place of the own ones."""
    pairs = {
        str(row.uuid): str(foreign[noun].uuid)
        for noun, row in own.items()
        if noun in foreign and hasattr(row, "uuid")
    }

    def swap(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {swap(key): swap(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [swap(inner) for inner in value]
        if isinstance(value, UploadedFile) or value is None or isinstance(value, int | float):
            return value
        return re.sub(r"[0-9a-f-]{36}", lambda found: pairs.get(found[0], found[0]), str(value))

    return swap(sent)


def rows_of(team: Team) -> list[Any]:
    """Every row that points at the team, and those that point at its datasets and runs."""
    rows: list[Any] = [
        list(model._base_manager.filter(**{field.name: team}).values())
        for model in Team._meta.apps.get_app_config("scoring").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model is Team
    ]
    rows.append(list(Case.objects.filter(version__dataset__team=team).values()))
    rows.append(list(AuditEntry.objects.of(team).values()))
    return rows


@pytest.mark.long("every address that takes ids is asked")
def test_a_foreign_id_in_a_body_changes_and_tells_nothing(
    desk: Desk, foreign: dict[str, Any], ids: set[str], elsewhere: Team
) -> None:
    """What an address changes with the own team's ids, it does not with another team's."""
    before = rows_of(elsewhere)
    wrong: dict[tuple[str, str], Any] = {}
    tried = 0
    for (kind, name), change in (RECORDED | UNRECORDED).items():
        with for_one_change(desk) as own:
            change.first(own)
            sent = change.sent(own) if callable(change.sent) else change.sent
            other = swapped(sent, own.house, foreign)
            if other == swapped(sent, {}, {}):
                continue  # it names no object
            tried += 1
            answer = own.send(name.partition(" ")[0], other, kind, change.method, change.query)
            last = AuditEntry.objects.filter(action=change.action).order_by("pk").last()
            is_done = change.action and last and last.actor_name == own.alice.email
            if answer.status_code >= 500 or rows_of(elsewhere) != before:
                wrong[kind, name] = answer.status_code
            elif is_done and kind == "api":
                wrong[kind, name] = "done"
            elif secrets := told(answer, ids, str(other)):
                wrong[kind, name] = secrets
    assert wrong == {}
    assert tried >= 20, tried


def masked(answer: HttpResponse, url: str) -> tuple[int, str]:
    """An answer without what differs from one to the next: its address and its CSRF token."""
    text = content(answer).replace(url, "URL")
    return answer.status_code, re.sub(r"\b[A-Za-z0-9]{64}\b", "TOKEN", text)


@pytest.mark.long("every address is asked by every method")
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Target": "cases"}])
def test_a_foreign_object_answers_like_a_missing_one_to_every_method(
    house: dict[str, Any], team: Team, charlie: User, headers: dict[str, str]
) -> None:
    """Pages, their fragments and the API, for an administrator of another team."""
    client = Client()
    client.force_login(charlie)
    different = []
    for kind, name, wanted in listed():
        if "uid" not in wanted:
            continue
        there = url_of(kind, name, wanted, house, team)
        uid = str(parameters(name, wanted, house, team)["uid"])
        nowhere = there.replace(uid, str(uuid.uuid4()))
        json = {"content_type": "application/json", "data": "{}"} if kind == "api" else {}
        for method in ("get", "post", "put", "patch", "delete"):
            sent = {} if method == "get" else json
            one, other = (
                masked(getattr(client, method)(url, **sent, headers=headers), url)
                for url in (there, nowhere)
            )
            if one != other:
                different.append((kind, name, method, one[0], other[0]))
    assert different == []


def test_a_token_of_another_team_finds_what_its_owner_has_here_no_more_than_a_stranger(
    house: dict[str, Any], team: Team, alice: User, elsewhere: Team
) -> None:
    """Its owner is an administrator of both teams; the token is of the other one."""
    elsewhere.members.create(user=alice, role=Role.ADMIN)
    _, secret = Token.objects.issue(elsewhere, alice, "a program", Role.ADMIN)
    headers = {"Authorization": f"Token {secret}"}
    wrong = []
    for kind, name, wanted in listed():
        if kind != "api" or "uid" not in wanted or API[name][0] is None:
            continue
        status = Client().get(url_of(kind, name, wanted, house, team), headers=headers).status_code
        if status != 404:
            wrong.append((name, status))
    assert wrong == []


# Django's admin

ADMIN_VIEWS: Final = ("changelist", "add", "history", "delete", "change")


def admin_urls(house: dict[str, Any]) -> Iterator[str]:
    """Every address of the admin, with a row that is there where it takes one."""
    for name in ("index", "jsi18n", "autocomplete"):
        yield reverse(f"admin:{name}")
    yield reverse("admin:app_list", args=["scoring"])
    for model in site._registry:
        start = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._base_manager.first()
        for view in ADMIN_VIEWS:
            takes_row = view in {"history", "delete", "change"}
            if row is not None or not takes_row:
                yield reverse(f"{start}_{view}", args=[row.pk] if takes_row and row else [])


@pytest.mark.parametrize("who", ["nobody", "bob", "alice", "staff"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_only_superusers_get_into_the_admin(
    house: dict[str, Any], alice: User, bob: User, who: str, method: str
) -> None:
    """Neither members nor administrators of teams do, nor staff whom nobody gave permissions."""
    people: dict[str, User] = {"alice": alice, "bob": bob}
    people["staff"] = User.objects.create_user("staff@example.org", is_staff=True)
    client = Client()
    if who in people:
        client.force_login(people[who])
    wrong = []
    for url in admin_urls(house):
        answer = getattr(client, method)(url)
        is_out = answer.status_code in {403, 404, 405} or "/accounts/login/" in answer.headers.get(
            "Location", ""
        )
        is_frame = who == "staff" and url in {reverse("admin:index"), reverse("admin:jsi18n")}
        is_signed_in_elsewhere = "/admin/login/" in answer.headers.get("Location", "")
        if not (is_out or is_frame or is_signed_in_elsewhere):
            wrong.append((url, answer.status_code))
    assert wrong == []


def test_the_figures_in_the_guide_are_those_of_the_table(pytestconfig: pytest.Config) -> None:
    text = (pytestconfig.rootpath / "docs/security.md").read_text()
    addresses = len(PAGES) + len(API)
    changed = sum(len(methods) for methods in CHANGES.values())
    assert f"{len(PAGES)} pages and {len(API)} addresses of the API" in text
    assert f"{addresses * 5 * 6:,} requests" in text
    assert changed == 7
