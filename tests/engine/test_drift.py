"""Drift lines: points in time, breaks, limits and changes, with answers known beforehand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.core.drift import control_limits
from scoring.engine.drift import Line, lines_of, measure
from scoring.models import (
    Baseline,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    Run,
    RunDrift,
    RunState,
    RunStep,
    Score,
)
from tests.conftest import MakeDataset
from tests.drifting import FIRST_DAY, run_again, run_in_week, scorer_of
from tests.scored import CLOSE, finished_run

# Eight means that wander by 0.02 at most, and the same again.
STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(4)])


def weeks(version: DatasetVersion, means: list[float], first: int = 0, **fields: Any) -> list[Run]:
    return [
        run_in_week(version, week, mean, **fields) for week, mean in enumerate(means, start=first)
    ]


def the_line(dataset: Dataset) -> Line:
    measure(dataset, "a")
    (line,) = lines_of(dataset)
    return line


# What lies on which line.


def test_a_line_for_each_series_and_scorer(version: DatasetVersion) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    run_in_week(version, 2, scorers=both)
    run_in_week(version, 1, scorers=both[:1], series="b")
    lines = lines_of(version.dataset)
    assert [(line.series, line.scorer) for line in lines] == [
        ("a", "close"),
        ("a", "same"),
        ("b", "close"),
    ]
    (chosen,) = lines_of(version.dataset, scorer="close", series="b")
    assert [point.label for point in chosen.points] == ["w1"]
    assert lines_of(version.dataset, scorer="nobody") == []


def test_points_follow_the_dates_of_the_outputs_not_of_the_runs(version: DatasetVersion) -> None:
    for week in (3, 1, 2):
        run_in_week(version, week, 0.8)
    (line,) = lines_of(version.dataset)
    assert [point.label for point in line.points] == ["w1", "w2", "w3"]
    assert line.points[0].dated == FIRST_DAY + timedelta(weeks=1)


def test_only_finished_runs_of_the_dataset_are_points(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run_in_week(version, 1)
    running = run_in_week(version, 2)
    Run.objects.filter(pk=running.pk).update(state=RunState.RUNNING)
    run_in_week(make_dataset([{}], name="Others"), 3)
    (line,) = lines_of(version.dataset)
    assert [point.label for point in line.points] == ["w1"]


def test_outputs_that_were_scored_again_are_one_point(version: DatasetVersion) -> None:
    first = run_in_week(version, 1, 0.5, "pppp")
    run_in_week(version, 2, 0.6, "pppp")
    again = run_again(first.output_set, 0.7, "pfpp")
    line = the_line(version.dataset)
    assert [(point.label, point.mean) for point in line.points] == [("again", 0.7), ("w2", 0.6)]
    assert line.points[0].run == str(again.uuid)
    assert (line.points[1].fixed, line.points[1].broke) == (1, 0)


def test_names_that_several_runs_have_come_with_a_date(version: DatasetVersion) -> None:
    run_in_week(version, 0, name="nightly")
    run_in_week(version, 1, name="nightly")
    run_in_week(version, 2, name="release")
    (line,) = lines_of(version.dataset)
    assert [point.label for point in line.points] == [
        "nightly (2026-01-05)",
        "nightly (2026-01-12)",
        "release",
    ]


def test_a_point_says_what_the_summary_says(version: DatasetVersion) -> None:
    run = run_in_week(version, 1, 0.8, "pppe", threshold=0.65)
    summary = run.scorers.get().summary
    point = the_line(version.dataset).points[0]
    assert (point.run, point.n, point.unscored, point.mean) == (str(run.uuid), 4, 0, 0.8)
    assert point.interval == summary.mean_estimate.interval
    assert (point.pass_rate, point.threshold) == (0.75, 0.65)
    assert (point.scorer_version, point.dataset_version) == (1, 1)
    assert (point.before, point.pairs, point.fixed, point.broke) == (None, None, None, None)


def test_a_run_without_scores_has_no_mean_and_not_zero(version: DatasetVersion) -> None:
    weeks(version, STEADY)
    run_in_week(version, 9, None, "eeee")
    line = the_line(version.dataset)
    last = line.points[-1]
    assert (last.mean, last.interval, last.pass_rate, last.n, last.unscored) == (
        None, None, None, 0, 4,
    )  # fmt: skip
    assert line.limits == control_limits(STEADY)
    assert line.sentences[0] == "close has scored nothing in w9."


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
    assert line.stretches == [[0], [1, 2], [3]]


def test_another_scorer_of_the_same_name_is_no_version(version: DatasetVersion) -> None:
    run_in_week(version, 1, scorers=[scorer_of(version, "close")])
    other = scorer_of(version, "other")
    run_in_week(version, 2, scorers=[other]).scorers.update(name="close")
    (line,) = lines_of(version.dataset)
    assert [each.text for each in line.points[1].breaks] == ["another scorer"]


@pytest.mark.parametrize(("count", "has_limits"), [(1, False), (7, False), (8, True), (30, True)])
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
    assert line.limits_reason == ("" if has_limits else reason)
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
    )
    run_in_week(later, 15, 0.9)
    assert the_line(version.dataset).limits == control_limits([*STEADY[:7], 0.9])


def test_a_changed_threshold_leaves_means_comparable(version: DatasetVersion) -> None:
    weeks(version, STEADY[:4], threshold=0.7)
    weeks(version, STEADY[4:], first=4, threshold=0.8)
    assert the_line(version.dataset).limits == control_limits(STEADY)


def test_points_beyond_the_limits_are_named(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *STEADY, 0.5, 0.81])
    line = the_line(version.dataset)
    assert [(each.place, each.is_below) for each in line.outside] == [(16, True)]
    assert any("w16 lies below the control limits" in text for text in line.sentences)
    assert "Inside the limits again since w17." in line.sentences


# Where the level changed.


def test_a_change_of_level_is_found_where_it_is(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *(mean - 0.2 for mean in STEADY)])
    (change,) = the_line(version.dataset).changes
    assert change.place == 8
    assert change.before == pytest.approx(0.81)
    assert change.after == pytest.approx(0.61)
    said = "The level fell with w8: from 0.810 to 0.610"
    assert any(text.startswith(said) for text in the_line(version.dataset).sentences)


def test_a_break_is_no_change_of_level(version: DatasetVersion, make_dataset: MakeDataset) -> None:
    weeks(version, STEADY)
    weeks(make_dataset([{}]), [mean - 0.2 for mean in STEADY], first=8)
    assert the_line(version.dataset).changes == []


def test_a_change_after_a_break_has_its_place_on_the_whole_line(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    weeks(version, STEADY[:3])
    weeks(make_dataset([{}]), [*STEADY, *(mean - 0.2 for mean in STEADY)], first=3)
    (change,) = the_line(version.dataset).changes
    assert change.place == 11


# What flipped between neighbours.


def test_flips_are_those_against_the_point_before(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, 0.8, each) for week, each in enumerate(FLIPPING)]
    line = the_line(version.dataset)
    found = [(point.pairs, point.fixed, point.broke) for point in line.points]
    assert found == [(None, None, None), (4, 1, 1), (4, 2, 0), (3, 0, 2)]
    assert [point.cases for point in line.points] == [None, (4, 1, 1), (4, 2, 0), (3, 0, 2)]
    assert [point.before for point in line.points] == [None, *(str(run.uuid) for run in runs[:3])]
    assert line.is_measured


FLIPPING = ["ppff", "pfpf", "pppp", "ffp-"]


def test_a_scorers_flips_are_its_own(version: DatasetVersion) -> None:
    """Beside one that always fails no case flips over all scorers."""
    both = [scorer_of(version, "close"), scorer_of(version, "never")]
    for week, letters in enumerate(FLIPPING[:3]):
        run = run_in_week(version, week, 0.8, letters, scorers=both)
        Score.objects.filter(scorer__run=run, scorer__name="never").update(score=0.0, verdict=1)
        run.verdicts.update(verdict=1)
    measure(version.dataset, "a")
    found = {line.scorer: [(p.fixed, p.broke) for p in line.points] for line in
             lines_of(version.dataset)}  # fmt: skip
    assert found == {
        "close": [(None, None), (1, 1), (2, 0)],
        "never": [(None, None), (0, 0), (0, 0)],
    }
    cases = [point.cases for line in lines_of(version.dataset) for point in line.points[1:]]
    assert cases == [(4, 0, 0)] * 4


def test_steps_from_before_scorers_were_counted_are_counted_again(version: DatasetVersion) -> None:
    for week in (1, 2):
        run_in_week(version, week, 0.8, FLIPPING[week])
    measure(version.dataset, "a")
    RunStep.objects.update(scorers=None)
    (line,) = lines_of(version.dataset)
    assert (line.points[1].fixed, line.points[1].cases, line.is_measured) == (None, None, False)
    assert (the_line(version.dataset).points[1].fixed, RunStep.objects.count()) == (2, 1)


def test_limits_over_a_change_of_level_do_not_reassure(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *(mean - 0.2 for mean in STEADY)])
    line = the_line(version.dataset)
    assert line.spanned == [8]
    assert any("span the change of level with w8, so they fit neither" in s for s in line.sentences)
    assert not any("lie inside their control limits" in text for text in line.sentences)
    weeks(version, [mean - 0.2 for mean in STEADY] * 2, first=16)
    line = the_line(version.dataset)
    assert (line.limited[0], [change.place for change in line.changes]) == (12, [8])
    assert line.spanned == []
    assert "The last 20 runs lie inside their control limits" in " ".join(line.sentences)


def test_a_note_says_what_changed_at_a_point(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *(mean - 0.2 for mean in STEADY)], threshold=0.6)
    run_in_week(version, 16, 0.1)
    notes = the_line(version.dataset).notes
    assert notes[8][0].startswith("level fell 0.810 → 0.5")
    assert notes[16] == ("threshold 0.6 → 0.7", "below the limits")
    assert not any(notes[:8])


def test_a_late_run_makes_new_neighbours(version: DatasetVersion) -> None:
    run_in_week(version, 1, 0.8, "pppp")
    run_in_week(version, 3, 0.8, "ffff")
    assert the_line(version.dataset).points[1].broke == 4
    run_in_week(version, 2, 0.8, "pfff")
    (line,) = lines_of(version.dataset)
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
    (line,) = lines_of(version.dataset)
    assert (line.points[1].broke, line.is_measured) == (None, False)
    line = the_line(version.dataset)
    assert (line.points[1].broke, line.is_measured) == (1, True)


def test_measuring_again_writes_nothing(version: DatasetVersion) -> None:
    for week in range(3):
        run_in_week(version, week, 0.8, "ppff")
    assert measure(version.dataset, "a") == 3 + 2
    kept = list(RunDrift.objects.values()), list(RunStep.objects.values())
    assert measure(version.dataset, "a") == 0
    assert (list(RunDrift.objects.values()), list(RunStep.objects.values())) == kept
    assert measure(version.dataset, "nobody") == 0


def test_a_flat_mean_that_hides_flips_is_called_out(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"q{number}"} for number in range(100)])
    run_in_week(version, 1, 0.80, "p" * 50 + "f" * 50)
    run_in_week(version, 2, 0.81, "p" * 40 + "f" * 10 + "p" * 11 + "f" * 39)
    assert (
        "From w1 to w2 the mean hardly moved (0.800 to 0.810), but 21 of 100 cases changed "
        "their verdict by close: 11 fixed, 10 broke."
    ) in the_line(version.dataset).sentences


# The baseline, texts and tags.


def test_texts_are_compared_with_the_baselines_or_the_first_ones(version: DatasetVersion) -> None:
    run_in_week(version, 1, 0.8, "pppp", texts=["abcd"] * 4)
    second = run_in_week(version, 2, 0.8, "pppp", texts=["abcd", "abcd", "abxy", "wxyz"])
    line = the_line(version.dataset)
    assert (line.baseline, line.reference) == (None, "w1")
    # Equal, equal, two of four letters, none of them.
    assert [point.similarity for point in line.points] == [1.0, pytest.approx(2.5 / 4)]
    assert [point.distinct for point in line.points] == [0.25, 0.75]
    Baseline.objects.pin(second, by=None)
    (stale,) = lines_of(version.dataset)
    assert [point.similarity for point in stale.points] == [None, None]
    assert not stale.is_measured
    line = the_line(version.dataset)
    assert line.baseline
    assert (line.baseline.label, line.reference) == ("w2", "w2")
    assert [point.similarity for point in line.points] == [pytest.approx(2.5 / 4), 1.0]


def test_texts_of_other_versions_are_found_by_key(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run_in_week(version, 1, 0.8, "pppp", texts=["one", "two", "three", "four"])
    later = make_dataset([{"key": "q3"}, {"key": "new"}, {"key": "q0"}])
    run_in_week(later, 2, 0.8, "ppp", texts=["four", "five", "one"])
    last = the_line(version.dataset).points[-1]
    assert (last.similarity, last.compared) == (1.0, 2)


def test_a_tag_has_its_own_figures(make_dataset: MakeDataset) -> None:
    version = make_dataset(
        [
            {"expected": "yes", "tags": ["a", "b"]},
            {"expected": "yes", "tags": ["b"]},
            {"expected": "yes", "tags": []},
        ]
    )
    outputs = OutputSet.objects.create(version=version, series="a", output_count=3)
    for case, text in zip(version.cases.all(), ["yes", "no", "no"], strict=True):
        Output.objects.create(output_set=outputs, case=case, text=text)
    finished_run(outputs, CLOSE)
    tags = the_line(version.dataset).points[0].tags
    assert {tag: tuple(figure) for tag, figure in tags.items()} == {
        "a": (1, 1.0, 1.0),
        "b": (2, 0.5, 0.5),
    }
