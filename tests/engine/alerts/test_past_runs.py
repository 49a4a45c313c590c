"""On which runs of the past a rule would have fired, without anything stored or enqueued."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.alerts.past_runs import PastRuns, check_past_runs
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.drift import measure_series
from scoring.models import (
    Alert,
    AlertRule,
    AlertWatch,
    Baseline,
    DatasetVersion,
    Job,
    OutputSet,
    Run,
    RunState,
)
from tests.support.fixtures.alert_rules import BAD, GOOD, UNKNOWN, letters, run_of

pytestmark = pytest.mark.django_db


def past(version: DatasetVersion, **wanted: Any) -> PastRuns:
    """Of a rule that is not saved; a pass rate below 0.8 unless told otherwise."""
    usual = {"kind": "pass_rate_below", "limit": 0.8, "scorer": "", "series": ""}
    most = wanted.pop("most", 20)
    dataset = version.dataset
    rule = AlertRule(team=dataset.team, dataset=dataset, **usual | wanted)
    found = check_past_runs(rule, most)
    assert not AlertRule.objects.exists()
    assert not Alert.objects.exists()
    assert not AlertWatch.objects.exists()
    assert not Job.objects.exists()
    return found


def names(found: PastRuns) -> list[str]:
    return [finding.run.name for finding in found.firing if finding.run]


def test_each_run_is_judged_as_if_it_were_the_newest(version: DatasetVersion) -> None:
    for number, verdicts in enumerate([BAD, GOOD, BAD, UNKNOWN, GOOD]):
        run_of(version, number, verdicts)
    found = past(version)
    assert (names(found), found.run_count, found.unknown) == (["w2", "w0"], 5, 0)
    assert (
        found.firing[0].sentence == "The pass rate is 25.0\u202f% in w2 (n = 20), below 80\u202f%."
    )
    assert [finding.run.name for finding in found.undecided if finding.run] == ["w3"]
    assert names(past(version, limit=0.2)) == []


def test_only_the_newest_runs_are_tried(version: DatasetVersion) -> None:
    for number in range(4):
        run_of(version, number, BAD)
    found = past(version, most=3)
    assert (names(found), found.run_count) == (["w3", "w2", "w1"], 3)


def test_without_runs_there_is_nothing_to_try(version: DatasetVersion) -> None:
    assert past(version) == PastRuns(0, [], 0)
    run = run_of(version, 0, BAD)
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
    assert past(version).run_count == 0


def test_a_rule_of_a_series_concerns_its_runs_only(version: DatasetVersion) -> None:
    for series in "ab":
        run_of(version, 0, BAD, series=series, name=f"of {series}")
    assert names(past(version, series="b")) == ["of b"]
    assert sorted(names(past(version))) == ["of a", "of b"]


def test_runs_of_other_datasets_are_no_concern(version: DatasetVersion, make_dataset: Any) -> None:
    run_of(make_dataset([{"key": f"q{n}"} for n in range(20)], "Another"), 0, BAD)
    assert past(version).run_count == 0


def test_outputs_scored_again_count_once_by_the_newest_run(version: DatasetVersion) -> None:
    first, again = (run_of(version, number, BAD) for number in range(2))
    Run.objects.filter(pk=again.pk).update(output_set=first.output_set_id)
    assert (names(past(version)), past(version).run_count) == (["w1"], 1)


def test_a_mean_is_that_of_the_scorer(version: DatasetVersion) -> None:
    for number, mean in enumerate([0.9, 0.5]):
        run_of(version, number, GOOD, mean=mean)
    wanted = {"kind": "mean_below", "limit": 0.8}
    assert names(past(version, scorer="close", **wanted)) == ["w1"]
    unscored = past(version, scorer="gone", **wanted)
    assert (names(unscored), len(unscored.undecided)) == ([], 2)


@pytest.mark.parametrize(("kind", "limit"), [("drop", None), ("regressions", 3.0)])
def test_runs_are_compared_by_what_is_stored(
    version: DatasetVersion, kind: str, limit: float | None
) -> None:
    runs = [run_of(version, number, verdicts) for number, verdicts in enumerate([GOOD, BAD, GOOD])]
    before = past(version, kind=kind, limit=limit)
    assert (names(before), before.unknown) == ([], 2)  # w0 has no run before it
    compare_runs(runs[0], runs[1])
    after = past(version, kind=kind, limit=limit)
    assert (names(after), after.unknown) == (["w1"], 1)
    assert after.firing[0].sentence.startswith("w1 against w0: ")


def test_a_baseline_pinned_later_is_none_of_an_earlier_run(version: DatasetVersion) -> None:
    runs = [run_of(version, number, v) for number, v in enumerate([GOOD, BAD, GOOD, BAD])]
    compare_runs(runs[0], runs[1])
    compare_runs(runs[2], runs[3])
    Baseline.objects.pin(runs[2], by=None)
    found = past(version, kind="regressions", limit=0.0)
    assert names(found) == ["w3", "w1"]


def test_gaps_between_runs_are_found_by_the_dates_of_their_outputs(
    version: DatasetVersion,
) -> None:
    for number in (0, 1, 4):
        run_of(version, number, GOOD)
    found = past(version, kind="no_data", limit=8.0)
    assert names(found) == ["w4", "w1"]  # nothing has come since w4, which lies in the past
    assert found.firing[1].sentence.startswith("No run of a for 21 days: the newest is w1")
    OutputSet.objects.filter(runs__name="w4").update(dated=timezone.now())
    assert names(past(version, kind="no_data", limit=8.0))[0] == "w1"
    assert names(past(version, kind="no_data", limit=9_999.0)) == []


@pytest.mark.parametrize(
    ("wanted", "fired", "warned"),
    [
        ({"limit": 0.2, "warning_limit": 0.8}, [], ["w0"]),
        ({"limit": 0.8, "warning_limit": 0.9}, ["w0"], []),
        ({"kind": "no_data", "limit": 9_999.0, "warning_limit": 8.0}, [], ["w1"]),
    ],
)
def test_runs_on_which_it_would_have_warned_are_told_apart(
    version: DatasetVersion, wanted: dict[str, Any], fired: list[str], warned: list[str]
) -> None:
    for number, verdicts in enumerate([BAD, GOOD]):
        run_of(version, number, verdicts)
    found = past(version, **wanted)
    assert names(found) == fired
    assert [finding.run.name for finding in found.warning if finding.run] == warned


def test_a_level_that_decreased_is_named_with_its_run(version: DatasetVersion) -> None:
    for number in range(10):
        run_of(version, number, GOOD, mean=0.8 + 0.01 * (number % 2) if number < 9 else 0.5)
    wanted = {"kind": "out_of_limits", "limit": None, "scorer": "close"}
    assert past(version, **wanted).unknown > 0
    measure_series(version.dataset, "a")
    found = past(version, **wanted)
    assert (names(found), found.unknown) == (["w9"], 0)
    assert found.firing[0].sentence.startswith(
        "The level of close decreased from 0.804 to 0.500 (p < 0.001)."
    )


def test_good_runs_fire_nothing(version: DatasetVersion) -> None:
    for number in range(3):
        run_of(version, number, letters(19))
    found = past(version)
    assert (found.firing, found.undecided, found.run_count) == ([], [], 3)
