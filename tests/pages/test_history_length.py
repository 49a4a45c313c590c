"""Pages ask the database no more often after a long history than after a short one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import Run, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import measured_weeks

BrowserOf = Callable[[User], Client]


def series_of(make_dataset: MakeDataset, count: int) -> Run:
    """The latest of so many weekly runs of a dataset of its own, all of them measured."""
    cases = [{"key": f"q{n}", "tags": ["billing"]} for n in range(4)]
    version = make_dataset(cases, name=f"{count} runs")
    return measured_weeks(version, count)


def addresses(run: Run) -> dict[str, str]:
    """Of the pages that show the run, and those of its dataset and team."""
    dataset = run.output_set.version.dataset
    return {
        "home": reverse("team_home", args=[run.team.slug]),
        "runs": reverse("runs", args=[run.team.slug]),
        "dataset": reverse("dataset", args=[dataset.uuid]),
        "case": reverse("run_case", args=[run.uuid, 2]),
        "run": reverse("run", args=[run.uuid]),
        "drift": reverse("dataset_drift", args=[dataset.uuid]) + "?scorer=close",
        "drift of a team": reverse("team_drift", args=[run.team.slug]),
    }


def ask(browser: Client, address: str) -> None:
    assert browser.get(address).status_code == 200


def queries(browser: Client, address: str) -> int:
    ask(browser, address)
    with CaptureQueriesContext(connection) as captured:
        ask(browser, address)
    return len(captured)


def test_a_longer_history_takes_no_more_queries(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are longer than what is read of a series at once."""
    monkeypatch.setattr("evalsite.pages.drift.views.MAX_RUNS", 4)
    monkeypatch.setattr("scoring.engine.drift.series_status.MAX_RUNS_PER_SERIES", 4)
    browser, counts = browser_of(bob), []
    for count in (6, 30):
        found = addresses(series_of(make_dataset, count))
        counts.append({name: queries(browser, address) for name, address in found.items()})
    assert counts[0] == counts[1]
