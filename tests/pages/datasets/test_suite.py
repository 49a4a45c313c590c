"""The suite of a dataset: who chooses it, and what a changed threshold asks for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.datasets.suite import DatasetSuiteForm
from scoring.models import AuditEntry, Dataset, Scorer, Suite, Team, ThresholdChange, User
from tests.conftest import MakeDataset

BrowserOf = Callable[[User], Client]


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    return make_dataset([{"input": "q"}]).dataset


@pytest.fixture
def close(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close", "levenshtein", {})


@pytest.fixture
def release(close: Scorer, dataset: Dataset) -> Suite:
    """The dataset's suite."""
    suite = Suite.objects.define(close.team, "release", [(close, 0.9)])
    suite.assign_to(dataset, by=None)
    return suite


def choose(browser: Client, dataset: Dataset, suite: Suite, reason: str = "") -> str:
    """The page that follows."""
    fields = {"suite": str(suite.uuid), "reason": reason}
    url = reverse("dataset_suite", args=[dataset.uuid])
    answer = browser.post(url, fields, follow=True)
    dataset.refresh_from_db()
    return " ".join(answer.text.split())


def test_an_editor_chooses_the_first_suite(
    browser: Client, dataset: Dataset, close: Scorer
) -> None:
    suite = Suite.objects.define(close.team, "release", [(close, 0.9)])
    page = browser.get(reverse("dataset", args=[dataset.uuid])).text
    assert f'href="{reverse("dataset_suite", args=[dataset.uuid])}"' in page
    assert "release is the suite of Answers." in choose(browser, dataset, suite)
    assert dataset.suite == suite
    entry = AuditEntry.objects.get(action="dataset.suite_changed")
    assert (entry.old, entry.new) == ({"suite": None}, {"suite": "release"})


def test_an_editor_chooses_one_with_the_same_thresholds(
    browser: Client, dataset: Dataset, release: Suite, close: Scorer, team: Team
) -> None:
    same = Scorer.objects.define(team, "same", "exact_match", {})
    stricter = Suite.objects.define(team, "stricter", [(close, 0.9), (same, None)])
    choose(browser, dataset, stricter)
    assert dataset.suite == stricter


def test_an_editor_is_refused_one_with_other_thresholds(
    browser: Client, dataset: Dataset, release: Suite, close: Scorer
) -> None:
    other = Suite.objects.define(close.team, "other", [(close, 0.5)])
    page = choose(browser, dataset, other, "I want it")
    assert "This suite has other thresholds. Only an administrator can choose it." in page
    assert "The threshold of close changes from" in page
    assert 'name="reason"' not in page
    assert dataset.suite == release


def test_an_administrator_gives_a_reason(
    browser_of: BrowserOf, alice: User, dataset: Dataset, release: Suite, close: Scorer
) -> None:
    other = Suite.objects.define(close.team, "other", [(close, 0.5)])
    assert "Enter a reason for the threshold change." in choose(browser_of(alice), dataset, other)
    assert dataset.suite == release
    choose(browser_of(alice), dataset, other, "Reviewers were milder.")
    assert dataset.suite == other
    entry = AuditEntry.objects.filter(action="dataset.suite_changed").first()
    assert entry is not None
    assert entry.old == {"suite": "release", "thresholds": {"close": 0.9}}
    reason = "Reviewers were milder."
    assert entry.new == {"suite": "other", "thresholds": {"close": 0.5}, "reason": reason}


def test_what_the_former_suite_knew_is_taken_over(
    dataset: Dataset, release: Suite, close: Scorer, team: Team
) -> None:
    same = Scorer.objects.define(team, "same", "exact_match", {})
    other = Suite.objects.define(team, "other", [(same, None)])
    other.assign_to(dataset, by=None)
    change = ThresholdChange.objects.get(suite=other)
    assert (change.scorer, change.text) == (close, "removed (was 0.9)")
    assert change.reason == "Last threshold in release, which was the suite of Answers before."
    other.replace_entries([(same, None), (close, None)], by=None)
    assert other.entries.get(scorer=close).threshold == 0.9


def test_choosing_the_same_suite_records_nothing(
    browser: Client, dataset: Dataset, release: Suite
) -> None:
    before = AuditEntry.objects.count()
    choose(browser, dataset, release)
    assert AuditEntry.objects.count() == before


def test_thresholds_that_change_meanwhile_need_a_reason(
    dataset: Dataset, release: Suite, close: Scorer, alice: User
) -> None:
    other = Suite.objects.define(close.team, "other", [(close, 0.9)])
    form = DatasetSuiteForm({"suite": other.uuid}, dataset=dataset, may_administer=True)
    assert form.is_valid()
    other.entries.get().change_threshold(0.5, by=alice, reason="Milder.")
    assert not form.save(alice)
    assert form.non_field_errors() == ["Enter a reason for the threshold change."]
    dataset.refresh_from_db()
    assert dataset.suite == release


def test_a_suite_of_another_team_is_none(browser: Client, dataset: Dataset, charlie: User) -> None:
    theirs = Suite.objects.define(Team.objects.get(slug="elsewhere"), "theirs", [])
    page = choose(browser, dataset, theirs)
    assert "No suites yet" in page
    assert dataset.suite is None
