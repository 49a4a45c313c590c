"""A browser tab of an editor with a spool of its own, and runs to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.jobs import lease
from scoring.engine.runs import progress
from scoring.models import OutputSet, Run, Scorer, Team, User, Worker
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.scorers.steps import NESTED, EditedScorer, Editing, NewScorer
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run


@pytest.fixture
def worker(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lives on, however slow the machine is."""
    monkeypatch.setattr(progress, "ALIVE_SECONDS", 3600)
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), started_at=now, seen_at=now)


@pytest.fixture
def spool(settings: Settings, tmp_path: Path) -> Path:
    """A spool of the test's own."""
    folder = tmp_path / "spool"
    folder.mkdir()
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = folder
    return folder


@pytest.fixture
def browser(browser_of: Callable[[User], Client], erin: User, spool: Path) -> Client:
    """A test client signed in as an editor of the team."""
    return browser_of(erin)


MakeSet = Callable[..., OutputSet]


@pytest.fixture
def make_set(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> MakeSet:
    """Outputs for cases that all expect "yes"; None among them failed."""

    def make(texts: Sequence[str | None], name: str = "Answers", **case: Any) -> OutputSet:
        cases = [{"expected": "yes", "input": f"Question {n}", **case} for n in range(len(texts))]
        return make_outputs(make_dataset(cases, name), texts)

    return make


@pytest.fixture
def run(make_set: MakeSet) -> Run:
    """Four cases: equal, nearly equal, far off, failed."""
    return finished_run(make_set(["yes", "yet", "no", None]), CLOSE, EXACT)


@pytest.fixture
def queued(make_set: MakeSet) -> Run:
    return queued_run(make_set(["yes", "no"]))


@pytest.fixture
def new_scorer(browser: Client, team: Team) -> NewScorer:
    """Somebody at the form of a new scorer of a type."""
    return lambda kind: Editing(browser, reverse("new_scorer", args=[team.slug, kind]))


@pytest.fixture
def edited_scorer(browser: Client) -> EditedScorer:
    """Somebody at the form of a saved scorer."""
    return lambda scorer: Editing(browser, reverse("edit_scorer", args=[scorer.uuid]))


@pytest.fixture
def nested(team: Team) -> Scorer:
    """A saved combination with another one inside."""
    return Scorer.objects.define(team, "both", "all", {"scorers": NESTED})
