"""A run with too many errors says so wherever its figures stand, and first on home."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.reports.run_report import run_report
from scoring.engine.reports.run_summary import Report, as_table
from scoring.models import DatasetVersion, Run, RunSummary, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.html import on_one_line

BrowserOf = Callable[[User], Client]
TOTAL = (
    "All 20 cases ended in an error. No connection answers; set a default one, or add the one of "
    "the name. Then retry 20 cases."
)
MANY = "2 of 20 cases ended in an error, over 5 %. Figures are of what was scored alone."


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(20)])


def run_of(version: DatasetVersion, errors: int, week: int = 2) -> Run:
    run = run_in_week(version, week, letters="e" * errors + "p" * (20 - errors))
    causes = {"connection_missing": errors} if errors else {}
    RunSummary.objects.filter(scorer__run=run).update(error_causes=causes)
    return run


def places(client: Client, run: Run) -> dict[str, str]:
    """What each place says of the run."""
    team = run.team.slug
    texts = {
        "page": client.get(reverse("run", args=[run.uuid])).text,
        "report": run_report(run),
        "command": as_table(Report(run, None, None, [], seeks_baseline=False)),
        "api": str(client.get(reverse("api:run", args=[run.uuid])).json()["cause"]),
        "home": client.get(reverse("team_home", args=[team])).text,
    }
    return {place: unescape(on_one_line(text)) for place, text in texts.items()}


def test_a_run_of_errors_alone_is_told_everywhere(
    version: DatasetVersion, browser_of: BrowserOf, alice: User
) -> None:
    run_of(version, 0, week=1)
    said = places(browser_of(alice), run := run_of(version, 20))
    assert [place for place, text in said.items() if TOTAL not in text] == []
    assert 'class="notice notice-error"' in said["page"]
    assert reverse("connections", args=[run.team.slug]) in said["page"]
    headings = re.findall("<h2[^>]*>([^<]*)", said["home"])
    assert headings[0] == "Failed runs"
    for page in (said["home"], said["page"]):
        assert 'state-failed">all errors' in page or "state state-failed" in page


def test_many_errors_are_told_wherever_figures_stand(
    version: DatasetVersion, browser_of: BrowserOf, alice: User
) -> None:
    before = run_of(version, 0, week=1)
    run = run_of(version, 2)
    client = browser_of(alice)
    said = places(client, run)
    assert [place for place, text in said.items() if MANY not in text] == ["home"]
    assert 'class="notice notice-warning"' in said["page"]
    assert "many errors" in said["home"]
    pair = {"baseline": before.uuid, "candidate": run.uuid}
    compared = on_one_line(client.get(reverse("compare", args=[run.team.slug]), pair).text)
    assert "In the run w2 2 of 20 cases ended in an error" in compared


def test_few_errors_are_told_by_their_number_alone(
    version: DatasetVersion, browser_of: BrowserOf, alice: User
) -> None:
    said = places(browser_of(alice), run_of(version, 1))
    assert [place for place, text in said.items() if "ended in an error" in text] == []
    assert said["api"] == "None"
