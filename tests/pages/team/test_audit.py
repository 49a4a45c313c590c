"""The audit log on its page: filtered, paged, exported, and blind for who still reviews."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, ReviewQueue, ReviewTask, Team, User
from tests.support.fixtures.house import house

__all__ = ["house"]

BrowserOf = Callable[[User], Client]


@pytest.fixture
def admin(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def url(team: Team) -> str:
    return reverse("audit", args=[team.slug])


@pytest.fixture
def entries(team: Team, alice: User, bob: User, charlie: User) -> None:
    record = AuditEntry.objects.record
    record(team, alice, "team.renamed", team, old={"name": "Old"}, new={"name": "Support"})
    record(team, bob, "comment.added", bob, new={"text": "<b>bold</b>", "list": ["a"], "n": None})
    record(team, None, "run.finished", team, old={"state": "running"})
    elsewhere = Team.objects.get(slug="elsewhere")
    record(elsewhere, charlie, "team.renamed", elsewhere, new={"name": "canary"})


def shown(admin: Client, url: str, **query: str) -> list[str]:
    return [row.entry.action for row in admin.get(url, query).context["rows"]]


@pytest.mark.usefixtures("entries")
def test_the_newest_comes_first_with_old_and_new(admin: Client, url: str) -> None:
    assert shown(admin, url) == ["run.finished", "comment.added", "team.renamed"]
    page = admin.get(url).text
    assert "canary" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    (row,) = [row for row in admin.get(url).context["rows"] if row.entry.action == "team.renamed"]
    assert row.changes == [("name", "Old", "Support")]


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ({"who": "BOB"}, ["comment.added"]),
        ({"action": "renamed"}, ["team.renamed"]),
        ({"target": "team"}, ["run.finished", "team.renamed"]),
        ({"target": "bob@"}, ["comment.added"]),
        ({"since": "2020-01-01"}, ["run.finished", "comment.added", "team.renamed"]),
        ({"until": "2020-01-01"}, []),
        ({"who": "alice", "action": "comment"}, []),
        ({"since": "yesterday"}, []),
    ],
)
def test_filters_narrow_the_page_and_its_export(
    admin: Client, url: str, query: dict[str, str], actions: list[str]
) -> None:
    assert shown(admin, url, **query) == actions
    answer = admin.get(f"{url}export/", query | {"format": "jsonl"})
    lines = b"".join(answer).splitlines()  # type: ignore[call-overload]
    *rows, count = map(json.loads, lines)
    assert [row["action"] for row in rows] == actions[::-1]
    assert count == {"_rows": len(actions)}


@pytest.mark.usefixtures("entries")
def test_an_object_is_found_by_its_id(admin: Client, url: str, team: Team) -> None:
    assert shown(admin, url, target=str(team.uuid)) == ["run.finished", "team.renamed"]


@pytest.mark.usefixtures("entries")
def test_a_day_that_was_named_is_included(admin: Client, url: str) -> None:
    day = AuditEntry.objects.latest("pk").at.date().isoformat()
    assert len(shown(admin, url, since=day, until=day)) == 3


def test_a_long_log_has_pages(admin: Client, url: str, team: Team, alice: User) -> None:
    for _ in range(51):
        AuditEntry.objects.record(team, alice, "team.renamed", team)
    page = admin.get(url, {"action": "team"}).context["page"]
    assert (len(page.rows), page.previous) == (50, None)
    rest = admin.get(url + page.next)
    assert [row.entry.number for row in rest.context["rows"]] == [1]
    assert "action=team" in page.next


@pytest.mark.usefixtures("entries")
def test_a_table_for_spreadsheets_has_every_column(admin: Client, url: str) -> None:
    answer = admin.get(f"{url}export/", {"format": "csv"})
    text = b"".join(answer).decode("utf-8-sig")  # type: ignore[call-overload]
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["number"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["old"] == '{"name":"Old"}'
    assert rows[0]["hash"] == AuditEntry.objects.order_by("pk")[0].hash


def test_a_long_value_is_cut(admin: Client, url: str, team: Team, alice: User) -> None:
    AuditEntry.objects.record(team, alice, "team.renamed", team, new={"name": "x" * 1_000})
    (row,) = admin.get(url).context["rows"]
    (change,) = row.changes
    assert len(change.new) == 121


def test_what_others_said_is_hidden_from_who_still_reviews(
    admin: Client, url: str, house: dict[str, Any], team: Team, alice: User, bob: User
) -> None:
    """Of the page and of its export; their own entries stay readable, and so does the rest."""
    queue: ReviewQueue = house["review"]
    for actor in (alice, bob):
        new = {"verdict": f"secret of {actor.email}"}
        AuditEntry.objects.record(team, actor, "review.said", queue, new=new)
    AuditEntry.objects.record(team, bob, "team.renamed", team, new={"name": "open"})

    def readable() -> list[bool]:
        texts = [admin.get(url).text]
        texts.append(b"".join(admin.get(f"{url}export/")).decode())  # type: ignore[call-overload]
        return [f"secret of {who.email}" in text for text in texts for who in (alice, bob)]

    assert readable() == [True, False, True, False]
    assert "hidden until you have reviewed your cases" in admin.get(url).text
    assert shown(admin, url, target=queue.name) == []  # nor is it found by what its name tells
    ReviewTask.objects.all().delete()
    assert readable() == [True] * 4
    assert "review.said" in shown(admin, url, target=queue.name)
