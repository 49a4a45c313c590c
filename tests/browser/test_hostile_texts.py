"""Hostile texts in every column that holds one, on every page: none runs, none calls anybody.

The tab reports scripts, errors and violations of the Content-Security-Policy by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models
from django.urls import reverse
from playwright.sync_api import Page

from scoring.engine.runs import planning
from scoring.models import (
    AuditCheckpoint,
    AuditEntry,
    Dataset,
    Notice,
    OutputSet,
    Run,
    Scorer,
    Team,
    User,
)
from tests.contracts.addresses import listed, url_of
from tests.contracts.doors import OPEN, PAGES
from tests.support.fixtures.house import house
from tests.support.fixtures.runs import finish
from tests.support.payloads import ESCAPES
from tests.support.thoroughness import IS_THOROUGH

__all__ = ["house"]
pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]

#: Columns that code reads and no person writes: names of types, hashes, addresses of things.
OF_CODE = {
    *("password", "email", "slug", "digest", "content_hash", "config_hash", "type", "lease_owner"),
    *("stored_name", "cache_key", "base_url", "kind", "session_key", "host", "query", "columns"),
    *(
        "bound_url",
        "key_url",
        "encrypted_key",
        "encrypted_webhook",
        "encrypted_secret",
        "last_four",
    ),
    *("webhook_host", "webhook_last_four", "link", "address", "target", "template", "model"),
    *("search_text", "spelling", "document", "text_hash", "code"),
}
#: Columns of JSON that are no plain text.
SHAPES: dict[str, Callable[[str], Any]] = {
    "references_json": lambda text: [text],
    "tags_json": lambda text: [text],
    "metadata_json": lambda text: {text: text},
}
SHORTEST = 40  # characters; a shorter column cannot hold a payload


def text_columns(model: type[models.Model]) -> Iterator[Any]:
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.CharField | models.TextField) and not field.choices
        is_short = (field.max_length or 10**6) < SHORTEST
        if is_text and not is_short and field.name not in OF_CODE and not field.primary_key:
            yield field


def plant() -> set[str]:
    """Put another payload into each column of each row; which columns there were."""
    planted, number = set(), count()
    for model in apps.get_app_config("scoring").get_models():
        if issubclass(model, AuditEntry | AuditCheckpoint) or not model._meta.managed:
            continue
        for row in model._base_manager.all():
            for field in text_columns(model):
                text = ESCAPES[next(number) % len(ESCAPES)]
                if field.name.endswith("_json"):
                    empty = {
                        "references_json": [text],
                        "tags_json": [text],
                        "metadata_json": {text: text},
                    }
                    text = json.dumps(empty.get(field.name, text))
                elif field.unique:
                    text = f"{text}{row.pk}"
                rows = model._base_manager.filter(pk=row.pk)
                rows.update(**{field.name: text[: field.max_length]})
                planted.add(f"{model._meta.model_name}.{field.name}")
    return planted


@pytest.fixture
def planted(house: dict[str, Any], team: Team, alice: User) -> set[str]:
    for run in Run.objects.filter(team=team):
        if run.is_unfinished:
            finish(run)
    Notice.objects.create(user=alice, run=house["run"], text="ended")
    return plant()


def test_there_are_enough_of_them() -> None:
    assert len(set(ESCAPES)) >= 120


def test_they_stand_wherever_a_person_writes(planted: set[str]) -> None:
    assert planted >= {
        *("team.name", "user.name", "dataset.name", "run.name", "run.note", "scorer.name"),
        *("suite.name", "outputset.name", "outputset.series", "case.key", "case.input_json"),
        *("case.expected_json", "case.tags_json", "case.metadata_json", "output.text"),
        *("notice.text", "comment.text", "review.note", "connection.name", "upload.file_name"),
        *("alert.sentence", "savedview.name", "reviewqueue.name", "correction.note"),
    }


@pytest.mark.long("every page is opened")
def test_no_page_runs_them(
    page: Page,
    sign_in: SignIn,
    alice: User,
    house: dict[str, Any],
    planted: set[str],
    team: Team,
    complaints: list[str],
    live_server: Any,
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    sign_in(alice)
    failed, seen = [], 0
    for kind, name, wanted in listed():
        get = PAGES[name][0] if kind == "page" else None
        if get in {None, OPEN} or name in {"sample", "asset"}:
            continue
        url = url_of(kind, name, wanted, house, team)
        head = page.request.get(url, headers={"Sec-Fetch-Dest": "document"})
        if head.status != 200 or "text/html" not in head.headers.get("content-type", ""):
            failed += [f"{name}: {head.status}"] if head.status >= 500 else []
            continue
        if "attachment" in head.headers.get("content-disposition", ""):
            continue
        page.goto(url)
        seen += 1
        if page.evaluate("window.ran") is not None:
            failed.append(f"{name}: ran")
    assert failed == []
    assert seen >= 60
    foreign = [url for url in asked if not url.startswith((live_server.url, "data:"))]
    assert foreign == []


def test_what_a_command_imports_is_as_harmless(
    page: Page, sign_in: SignIn, alice: User, team: Team, tmp_path: Any
) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [
        {"id": f"{n} {text}", "input": text, "expected": text, "output": text, "tags": [text[:90]]}
        for n, text in enumerate(ESCAPES)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    call_command("import", str(file), dataset=ESCAPES[1], team=team.slug)
    dataset = Dataset.objects.get()
    scorer = Scorer.objects.define(team, ESCAPES[2], "exact_match", {})
    outputs = OutputSet.objects.get()
    run = planning.create_run(outputs, scorers=[(scorer, 1.0)], name=ESCAPES[3])
    finish(run)
    sign_in(alice)
    places = range(1, len(ESCAPES) + 1) if IS_THOROUGH else (1, 40, 80, 120)
    cases = [reverse("run_case", args=[run.uuid, place]) for place in places]
    lists = [reverse("dataset", args=[dataset.uuid]), reverse("run", args=[run.uuid])]
    for url in [*lists, *cases]:
        page.goto(url)
        assert page.evaluate("window.ran") is None
        assert page.locator("main script, main iframe, main object, main base").count() == 0
