"""Every address that changes something leaves its audit entry, or says why it leaves none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from pytest_django.fixtures import Settings

from scoring.models import (
    AttemptCounter,
    AuditEntry,
    IdempotencyKey,
    OutputSet,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.contracts.audited import RECORDED, UNRECORDED, Change, Desk
from tests.contracts.doors import API, CHANGES, PAGES

#: Bookkeeping of requests, whatever they ask.
BOOKKEEPING = {AttemptCounter, IdempotencyKey}


def test_every_address_that_takes_changes_is_listed() -> None:
    offered = {("page", name) for name, (_, post) in PAGES.items() if post is not None}
    offered |= {("api", name) for name, (_, post) in API.items() if post is not None}
    for name, methods in CHANGES.items():
        offered |= {
            ("api", name if method == "patch" else f"{name} {method}") for method in methods
        }
    assert set(RECORDED) | set(UNRECORDED) == offered


@pytest.fixture
def desk(
    house: dict[str, Any],
    team: Team,
    alice: User,
    browser_of: Callable[[User], Client],
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    settings: Settings,
    tmp_path: Path,
) -> Desk:
    def make_set(texts: Sequence[str | None], name: str) -> OutputSet:
        return make_outputs(make_dataset([{"expected": "yes"} for _ in texts], name), texts)

    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    return Desk(browser_of(alice), team, alice, house, make_set)


def new_entries(desk: Desk, change: Change, kind: str, name: str) -> list[AuditEntry]:
    """What the change recorded, which succeeds."""
    last = AuditEntry.objects.order_by("pk").last()
    answer = change.make(desk, kind, name.partition(" ")[0])
    assert answer.status_code < 400, answer.content.decode()
    return list(AuditEntry.objects.filter(pk__gt=last.pk if last else 0).order_by("pk"))


@pytest.mark.parametrize(("kind", "name"), RECORDED)
def test_a_change_is_recorded(desk: Desk, kind: str, name: str) -> None:
    change = RECORDED[kind, name]
    change.first(desk)
    entries = new_entries(desk, change, kind, name)
    assert change.action in [entry.action for entry in entries]
    recorded = next(entry for entry in entries if entry.action == change.action)
    assert recorded.actor_name.startswith("alice@" if name != "setup" else "first@")


def tables() -> dict[type, list[Any]]:
    """The rows of every table of the site."""
    return {
        model: sorted(map(str, model._base_manager.values()))
        for model in apps.get_app_config("scoring").get_models()
    }


@pytest.mark.parametrize(("kind", "name"), UNRECORDED)
def test_what_leaves_no_entry_touches_only_what_it_may(desk: Desk, kind: str, name: str) -> None:
    change = UNRECORDED[kind, name]
    change.first(desk)
    before = tables()
    assert new_entries(desk, change, kind, name) == []
    after = tables()
    touched = {model for model, rows in after.items() if rows != before[model]} - BOOKKEEPING
    assert touched == change.touches
    assert change.reason
