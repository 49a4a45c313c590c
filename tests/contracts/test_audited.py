"""Every address that changes something leaves its audit entry, or says why it leaves none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from scoring.models import (
    AttemptCounter,
    AuditEntry,
    IdempotencyKey,
    OutgoingMail,
    OutputSet,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.contracts.audit_steps import Change, Desk
from tests.contracts.audited import RECORDED, UNRECORDED
from tests.contracts.doors import API, CHANGES, PAGES
from tests.pages.conftest import spool
from tests.support.undone import undone

__all__ = ["spool"]

#: Bookkeeping of requests, whatever they ask.
BOOKKEEPING = {AttemptCounter, IdempotencyKey, OutgoingMail}


def test_every_address_that_takes_changes_is_listed() -> None:
    offered = {("page", name) for name, (_, post) in PAGES.items() if post is not None}
    offered |= {("api", name) for name, (_, post) in API.items() if post is not None}
    for name, methods in CHANGES.items():
        offered |= {
            ("api", name if method == "patch" else f"{name} {method}") for method in methods
        }
    assert set(RECORDED) | set(UNRECORDED) == offered


@pytest.fixture(autouse=True)
def _demo_without_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its team is enough here, and made at once."""
    monkeypatch.setattr("scoring.engine.demo.load.STORIES", ())


@pytest.fixture
def desk(
    house: dict[str, Any],
    team: Team,
    alice: User,
    browser_of: Callable[[User], Client],
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    spool: Path,
) -> Desk:
    def make_set(texts: Sequence[str | None], name: str) -> OutputSet:
        return make_outputs(make_dataset([{"expected": "yes"} for _ in texts], name), texts)

    return Desk(browser_of(alice), team, alice, house, make_set)


@contextmanager
def for_one_change(desk: Desk) -> Iterator[Desk]:
    """A desk like it, of which no row stays."""
    with undone():
        client = Client()
        client.cookies = deepcopy(desk.client.cookies)
        house = {noun: copy(row) for noun, row in desk.house.items()}
        yield replace(desk, client=client, alice=copy(desk.alice), house=house)


def new_entries(desk: Desk, change: Change, kind: str, name: str) -> list[AuditEntry]:
    """What the change recorded, which succeeds."""
    last = AuditEntry.objects.order_by("pk").last()
    answer = change.make(desk, kind, name.partition(" ")[0])
    assert answer.status_code < 400, (kind, name, answer.content.decode())
    return list(AuditEntry.objects.filter(pk__gt=last.pk if last else 0).order_by("pk"))


@pytest.mark.long("every address that takes changes is asked")
def test_every_change_is_recorded(desk: Desk) -> None:
    recorded, wanted = {}, {}
    for (kind, name), change in RECORDED.items():
        with for_one_change(desk) as own:
            change.first(own)
            entries = new_entries(own, change, kind, name)
        actors = [entry.actor_name for entry in entries if entry.action == change.action]
        recorded[kind, name] = (change.action, actors[0].partition("@")[0] if actors else None)
        wanted[kind, name] = (change.action, "alice" if name != "setup" else "first")
    assert recorded == wanted


def tables() -> dict[type, list[Any]]:
    """The rows of every table of the site."""
    return {
        model: sorted(map(str, model._base_manager.values()))
        for model in apps.get_app_config("scoring").get_models()
    }


def test_what_leaves_no_entry_touches_only_what_it_may(desk: Desk) -> None:
    found = {}
    for (kind, name), change in UNRECORDED.items():
        with for_one_change(desk) as own:
            change.first(own)
            before = tables()
            actions = [entry.action for entry in new_entries(own, change, kind, name)]
            after = tables()
        touched = {model for model, rows in after.items() if rows != before[model]} - BOOKKEEPING
        found[kind, name] = (actions, touched)
    assert found == {place: ([], change.touches) for place, change in UNRECORDED.items()}
    assert all(change.reason for change in UNRECORDED.values())
