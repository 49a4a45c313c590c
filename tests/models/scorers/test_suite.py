"""Thresholds of suites: which are known, which change, and what is said of each change."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from scoring.models import AuditEntry, Scorer, Suite, SuiteEntry, Team, ThresholdChange
from scoring.models.scorers.threshold_change import StaleThresholdError
from tests.conftest import MakeDataset
from tests.support.concurrency import TIMES, call_at_once, wait_for_all


@pytest.fixture
def scorers(team: Team) -> list[Scorer]:
    """Their default thresholds are 0.7 and 1."""
    return [
        Scorer.objects.define(team, "close", "levenshtein", {}, 0.7),
        Scorer.objects.define(team, "same", "exact_match", {}, 1.0),
    ]


@pytest.fixture
def suite(team: Team, scorers: list[Scorer]) -> Suite:
    close, same = scorers
    return Suite.objects.define(team, "release", [(close, 0.8), (same, None)])


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [(None, 0.5, "added at 0.5"), (1.0, None, "removed (was 1)"), (0.5, 0.75, "0.5 → 0.75")],
)
def test_a_change_says_what_happened(old: float | None, new: float | None, text: str) -> None:
    change = ThresholdChange(old=old, new=new)
    assert change.text == text


def test_an_entry_without_a_threshold_takes_its_scorers(suite: Suite) -> None:
    assert suite.described() == {"name": "release", "thresholds": {"close": 0.8, "same": 1.0}}


def test_a_removed_scorer_comes_back_with_its_threshold(
    suite: Suite, scorers: list[Scorer]
) -> None:
    close, same = scorers
    suite.replace_entries([(same, None)], by=None)
    assert suite.known_thresholds() == {close.pk: 0.8, same.pk: 1.0}
    assert suite.threshold_steps([(close, 0.8), (same, None)]) == []
    suite.replace_entries([(same, None), (close, None)], by=None)
    assert suite.described()["thresholds"] == {"same": 1.0, "close": 0.8}


@pytest.mark.parametrize("is_used", [True, False])
def test_only_a_suite_that_nothing_uses_changes_without_a_reason(
    suite: Suite, scorers: list[Scorer], make_dataset: MakeDataset, is_used: bool
) -> None:
    close, same = scorers
    if is_used:
        suite.assign_to(make_dataset([{}]).dataset, by=None)
        with pytest.raises(ValidationError, match="Enter a reason"):
            suite.replace_entries([(close, 0.9), (same, None)], by=None, reason=" ")
    else:
        suite.replace_entries([(close, 0.9), (same, None)], by=None)
    assert AuditEntry.objects.filter(action="threshold.changed").exists() != is_used
    assert SuiteEntry.objects.get(scorer=close).threshold == (0.8 if is_used else 0.9)
    assert suite.revision == (1 if is_used else 2)


def test_another_suite_of_a_dataset_tells_which_thresholds_change(
    team: Team, suite: Suite, scorers: list[Scorer], make_dataset: MakeDataset
) -> None:
    close, same = scorers
    dataset: Any = make_dataset([{}]).dataset
    other = Suite.objects.define(team, "nightly", [(close, 0.5), (same, None)])
    assert other.steps_for(dataset) == []
    suite.assign_to(dataset, by=None)
    assert [tuple(step) for step in other.steps_for(dataset)] == [(close, 0.8, 0.5)]
    with pytest.raises(ValidationError, match="Enter a reason"):
        other.assign_to(dataset, by=None)
    other.assign_to(dataset, by=None, reason="Faster.")
    assert dataset.suite == other


def test_a_threshold_that_somebody_changed_meanwhile_stays(suite: Suite) -> None:
    mine, theirs = (SuiteEntry.objects.get(scorer__name="close") for _ in range(2))
    theirs.change_threshold(0.5, by=None, reason="Too strict.")
    with pytest.raises(StaleThresholdError, match=r"threshold of close to 0\.5 in the") as stale:
        mine.change_threshold(0.9, by=None, reason="Too lenient.")
    assert (stale.value.current, mine.threshold) == (0.5, 0.5)
    mine.change_threshold(0.9, by=None, reason="Too lenient.")
    steps = suite.threshold_changes.order_by("pk").values_list("old", "new")
    assert list(steps) == [(0.8, 0.5), (0.5, 0.9)]


def test_a_change_may_name_the_threshold_that_was_seen(suite: Suite) -> None:
    entry = SuiteEntry.objects.get(scorer__name="close")
    with pytest.raises(StaleThresholdError):
        entry.change_threshold(0.9, by=None, reason="Too lenient.", seen=0.7)
    assert not ThresholdChange.objects.exists()
    assert entry.change_threshold(0.9, by=None, reason="x", seen=0.8).text == "0.8 → 0.9"


def test_the_threshold_of_a_scorer_that_left_meanwhile_stays(
    suite: Suite, scorers: list[Scorer]
) -> None:
    entry = SuiteEntry.objects.get(scorer__name="close")
    suite.replace_entries([(scorers[1], None)], by=None)
    with pytest.raises(
        StaleThresholdError, match="The operator removed close in the meantime"
    ) as stale:
        entry.change_threshold(0.9, by=None, reason="Too lenient.")
    assert stale.value.current is None
    assert suite.known_thresholds()[scorers[0].pk] == 0.8


@pytest.mark.django_db(transaction=True)
def test_of_eight_changes_at_once_one_is_made(suite: Suite) -> None:
    seen = iter([SuiteEntry.objects.get(scorer__name="close") for _ in range(TIMES)])
    wanted = iter([0.1 + n / 100 for n in range(TIMES)])

    def change() -> str:
        try:
            next(seen).change_threshold(next(wanted), by=None, reason="x")
        except StaleThresholdError:
            return "stale"
        return "changed"

    assert sorted(call_at_once(change)) == ["changed"] + ["stale"] * (TIMES - 1)
    (made,) = suite.threshold_changes.all()
    assert made.new == SuiteEntry.objects.get(scorer__name="close").threshold


@pytest.mark.django_db(transaction=True)
def test_of_two_who_fill_the_suite_at_once_the_second_replaces_the_first(
    suite: Suite, scorers: list[Scorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each put in what the other left out: a mixture is neither's."""
    monkeypatch.setattr(Suite, "_write_entries", wait_for_all(Suite._write_entries, 2))
    wanted = iter([[(scorer, None)] for scorer in scorers])
    rows = iter([Suite.objects.get(pk=suite.pk) for _ in range(2)])
    call_at_once(lambda: next(rows).replace_entries(next(wanted), by=None), 2)
    assert suite.entries.count() == 1
    first, second = AuditEntry.objects.filter(action="suite.changed").order_by("number")
    assert second.old == first.new
