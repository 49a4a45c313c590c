"""Drift lines: points in time, breaks, limits and changes, with answers known beforehand."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scoring.core.stats.change_points import control_limits
from scoring.engine.drift import DriftLine, drift_lines, measure_series
from scoring.engine.drift.line import LineWindow
from scoring.models import (
    Dataset,
    DatasetVersion,
    DriftResult,
    LevelSums,
    Run,
    RunDrift,
    RunStep,
    Score,
)
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of

# Eight means that wander by 0.02 at most, and the same again.
STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


def weeks(version: DatasetVersion, means: list[float], first: int = 0, **fields: Any) -> list[Run]:
    return [
        run_in_week(version, week, mean, **fields) for week, mean in enumerate(means, start=first)
    ]


def the_line(dataset: Dataset) -> DriftLine:
    measure_series(dataset, "a")
    (line,) = drift_lines(dataset)
    return line


# Where a line is broken.


def test_breaks_name_what_changed(version: DatasetVersion, make_dataset: MakeDataset) -> None:
    scorer = scorer_of(version)
    run_in_week(version, 1)
    scorer.revise({"case_sensitive": True}, by=None)
    run_in_week(version, 2)
    run_in_week(version, 3, threshold=0.75)
    later = make_dataset([{"key": "q0"}])
    run_in_week(later, 4, threshold=0.75)
    line = the_line(version.dataset)
    assert [[each.text for each in point.breaks] for point in line.points] == [
        [],
        ["scorer version 1 → 2"],
        ["threshold 0.7 → 0.75"],
        ["dataset version 1 → 2"],
    ]
    assert [point.is_cut_off for point in line.points] == [False, True, False, True]
    assert line.parts == [[0], [1, 2], [3]]


def test_another_scorer_of_the_same_name_is_no_version(version: DatasetVersion) -> None:
    run_in_week(version, 1, scorers=[scorer_of(version, "close")])
    other = scorer_of(version, "other")
    run_in_week(version, 2, scorers=[other]).scorers.update(name="close")
    (line,) = drift_lines(version.dataset)
    assert [each.text for each in line.points[1].breaks] == ["another scorer"]


def test_flips_across_a_break_are_not_told(version: DatasetVersion) -> None:
    weeks(version, STEADY[:4])
    scorer_of(version).revise({"case_sensitive": True}, by=None)
    weeks(version, STEADY[:2], first=4)
    measure_series(version.dataset, "a")
    DriftResult.objects.update(churn_p=0.001)
    (line,) = drift_lines(version.dataset, part=LineWindow(most=1))
    told = [
        text.split(" the mean ")[0] for text in line.sentences if "changed their verdict" in text
    ]
    assert told == ["From w1 to w2", "From w2 to w3", "From w4 to w5"]
    assert "The same is true of 1 earlier step." in line.sentences


@pytest.mark.parametrize(("count", "has_limits"), [(1, False), (7, False), (8, True), (22, True)])
def test_limits_need_eight_runs_and_look_back_on_twenty(
    version: DatasetVersion, count: int, has_limits: bool
) -> None:
    means = (STEADY * 4)[:count]
    weeks(version, means)
    line = the_line(version.dataset)
    assert line.limits == control_limits(means)
    assert (line.limits is not None) == has_limits
    runs = "1 run" if count == 1 else f"{count} runs"
    reason = f"Not enough runs for control limits: {runs}, 8 are needed."
    assert line.limits_reason.startswith(reason) != has_limits
    assert line.limited == (list(range(count))[-20:] if has_limits else [])


def test_limits_begin_anew_after_a_break(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    weeks(version, STEADY)
    later = make_dataset([{"key": "q0"}])
    weeks(later, STEADY[:7], first=8)
    line = the_line(version.dataset)
    assert line.limits is None
    assert line.limits_reason == (
        "Not enough runs for control limits: 7 runs since w8 (dataset version 1 → 2), 8 are needed."
        " Until then each run is tested case by case against these runs alone."
    )
    run_in_week(later, 15, 0.81)
    assert the_line(version.dataset).limits == control_limits([*STEADY[:7], 0.81])


def test_a_changed_threshold_leaves_means_comparable(version: DatasetVersion) -> None:
    weeks(version, STEADY[:4], threshold=0.7)
    weeks(version, STEADY[4:], first=4, threshold=0.8)
    assert the_line(version.dataset).limits == control_limits(STEADY)


def test_a_run_at_another_level_is_named_and_left_out(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *STEADY, 0.5, 0.81])
    line = the_line(version.dataset)
    assert [(each.place, each.is_below) for each in line.outside] == [(16, True)]
    assert "w16 was below this level; back at it since w17." in line.sentences
    assert line.changes == []
    assert line.limits == control_limits([*STEADY, *STEADY, 0.81])


# Where the level changed.


def test_a_change_of_level_is_found_where_it_is(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *(mean - 0.2 for mean in STEADY)])
    (change,) = the_line(version.dataset).changes
    assert change.place == 8
    assert change.before == pytest.approx(0.81)
    assert change.after == pytest.approx(0.61)
    said = "The level decreased with w8: from 0.810 to 0.610"
    assert any(text.startswith(said) for text in the_line(version.dataset).sentences)


def test_a_break_is_no_change_of_level(version: DatasetVersion, make_dataset: MakeDataset) -> None:
    weeks(version, STEADY)
    later = make_dataset([{"key": f"q{number}"} for number in range(4)])
    weeks(later, [mean - 0.2 for mean in STEADY], first=8)
    assert the_line(version.dataset).changes == []


def test_a_change_after_a_break_has_its_place_on_the_whole_line(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    weeks(version, STEADY[:3])
    later = make_dataset([{"key": f"q{number}"} for number in range(4)])
    weeks(later, [*STEADY, *(mean - 0.2 for mean in STEADY)], first=3)
    (change,) = the_line(version.dataset).changes
    assert change.place == 11


FLIPPING = ["ppff", "pfpf", "pppp", "ffp-"]


def test_a_scorers_flips_are_its_own(version: DatasetVersion) -> None:
    """Beside one that always fails no case flips over all scorers."""
    both = [scorer_of(version, "close"), scorer_of(version, "never")]
    for week, letters in enumerate(FLIPPING[:3]):
        run = run_in_week(version, week, 0.8, letters, scorers=both)
        Score.objects.filter(scorer__run=run, scorer__name="never").update(score=0.0, verdict=1)
        run.verdicts.update(verdict=1)
    measure_series(version.dataset, "a")
    found = {line.scorer: [(p.fixed, p.broke) for p in line.points] for line in
             drift_lines(version.dataset)}  # fmt: skip
    assert found == {
        "close": [(None, None), (1, 1), (2, 0)],
        "never": [(None, None), (0, 0), (0, 0)],
    }
    cases = [point.cases for line in drift_lines(version.dataset) for point in line.points[1:]]
    assert cases == [(4, 0, 0)] * 4


def test_steps_from_before_scorers_were_counted_are_counted_again(version: DatasetVersion) -> None:
    for week in (1, 2):
        run_in_week(version, week, 0.8, FLIPPING[week])
    measure_series(version.dataset, "a")
    RunStep.objects.update(scorers=None)
    (line,) = drift_lines(version.dataset)
    assert (line.points[1].fixed, line.points[1].cases, line.is_measured) == (None, None, False)
    assert (the_line(version.dataset).points[1].fixed, RunStep.objects.count()) == (2, 1)


def test_limits_belong_to_the_runs_since_the_level_changed(version: DatasetVersion) -> None:
    low = [mean - 0.2 for mean in STEADY]
    weeks(version, [*STEADY, *low[:7]])
    line = the_line(version.dataset)
    assert (line.limits, line.limited) == (None, [])
    assert "7 runs since the level changed with w8, 8 are needed." in line.limits_reason
    run_in_week(version, 15, low[7])
    line = the_line(version.dataset)
    assert (line.limits, line.limited) == (control_limits(low), list(range(8, 16)))


def test_a_late_run_makes_new_neighbours(version: DatasetVersion) -> None:
    run_in_week(version, 1, 0.8, "pppp")
    run_in_week(version, 3, 0.8, "ffff")
    assert the_line(version.dataset).points[1].broke == 4
    run_in_week(version, 2, 0.8, "pfff")
    (line,) = drift_lines(version.dataset)
    assert [point.broke for point in line.points] == [None, None, None]
    assert not line.is_measured
    assert [point.broke for point in the_line(version.dataset).points] == [None, 3, 1]


def test_a_run_that_is_scored_again_is_measured_again(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, 0.8, "pppp") for week in (1, 2)]
    the_line(version.dataset)
    runs[1].verdicts.filter(position=1).update(verdict=1)
    one = runs[1].verdicts.get(position=1)
    Score.objects.filter(output=one.output_id).update(score=0.0, verdict=1)
    Run.objects.filter(pk=runs[1].pk).update(finished_at=timezone.now())
    (line,) = drift_lines(version.dataset)
    assert (line.points[1].broke, line.is_measured) == (None, False)
    line = the_line(version.dataset)
    assert (line.points[1].broke, line.is_measured) == (1, True)


def test_measuring_again_writes_nothing(version: DatasetVersion) -> None:
    for week in range(3):
        run_in_week(version, week, 0.8, "ppff")
    assert measure_series(version.dataset, "a") == 3 + 2 + 3
    tables = RunDrift, RunStep, DriftResult, LevelSums
    kept = [list(table.objects.values()) for table in tables]
    assert measure_series(version.dataset, "a") == 0
    assert [list(table.objects.values()) for table in tables] == kept
    assert measure_series(version.dataset, "nobody") == 0
