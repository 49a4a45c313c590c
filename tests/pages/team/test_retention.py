"""Retention rules on their page: previewed, saved, refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.retention import removal
from scoring.models import ModelCall, OutputSet, RetentionPolicy, Team, User
from tests.engine.retention.conftest import AGE, Store, store

__all__ = ["store"]

BrowserOf = Callable[[User], Client]
DAYS = str(AGE.days // 2)
RULES = {"runs_days": DAYS, "texts_days": DAYS, "replies_days": DAYS, "audit_days": "365"}


def words(answer: Any) -> str:
    """The text of a page, without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


@pytest.fixture
def admin(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def url(team: Team) -> str:
    return reverse("retention", args=[team.slug])


def test_at_first_everything_is_kept(admin: Client, url: str) -> None:
    page = admin.get(url)
    assert words(page).count("kept") == 4
    assert "Save rules" not in page.text


def test_other_days_say_what_would_go(admin: Client, url: str, store: Store) -> None:
    said = words(admin.get(url, RULES))
    assert "1 run, counted from its end: old" in said
    assert "2 outputs in 1 set, counted from when they were first stored" in said
    assert "1 reply" in said
    assert "0 entries" in said
    assert "Save rules" in said
    assert not RetentionPolicy.objects.exists()


def test_rules_are_saved_and_say_when_they_hold(admin: Client, url: str, team: Team) -> None:
    page = admin.post(url, RULES, follow=True)
    assert "Rules saved. Nothing is removed before" in page.text
    policy = RetentionPolicy.objects.get(team=team)
    assert policy.days == {name: int(days) for name, days in RULES.items()}
    assert f'value="{DAYS}"' in page.text
    assert "Save rules" not in page.text
    page = admin.post(url, dict.fromkeys(RULES, ""), follow=True)
    assert "Rules saved: everything is kept." in page.text


@pytest.mark.parametrize("days", ["0", "-1", "x", "36501", "1.5"])
def test_days_that_are_none_are_refused(admin: Client, url: str, days: str) -> None:
    for answer in (admin.get(url, {"runs_days": days}), admin.post(url, {"runs_days": days})):
        assert answer.status_code == 422
        assert "Nothing can be previewed" in answer.text
    assert not RetentionPolicy.objects.exists()


def test_a_part_of_the_page_is_the_preview(admin: Client, url: str) -> None:
    headers = {"HX-Request": "true", "HX-Target": "retention_preview"}
    part = admin.get(url, {"runs_days": "9"}, headers=headers)
    assert part.text.lstrip().startswith('<section class="section stack" id="retention_preview"')


def test_pages_say_what_was_removed(admin: Client, store: Store) -> None:
    removal.remove_texts(store.team, store.before)
    removal.remove_replies(store.team, store.before)
    run = admin.get(reverse("run", args=[store.old.uuid]))
    assert "texts of the outputs were removed by the team's retention rules" in words(run)
    assert "Retry" not in run.text
    case = words(admin.get(reverse("run_case", args=[store.old.uuid, 1])))
    assert "no output is stored The text was removed by the team's retention rules." in case
    dataset = store.old.output_set.version.dataset
    listed = words(admin.get(reverse("dataset_outputs", args=[dataset.uuid])))
    assert listed.count("texts removed") == OutputSet.objects.filter(state="emptied").count() == 1
    assert ModelCall.objects.exclude(removed_at=None).count() == 1
