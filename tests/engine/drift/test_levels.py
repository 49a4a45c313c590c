"""What is said of lines whose course is known: pages, lists, alerts and the API say the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone

from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import Finding
from scoring.engine.drift import DriftLine, drift_lines, measure_series, report
from scoring.engine.drift.series_status import SeriesStatus, series_statuses
from scoring.models import (
    AlertRule,
    DatasetVersion,
    DriftResult,
    OutputSet,
    Run,
    RunSummary,
    WatchState,
)
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db

CASES = 100
FIRST_DAY = datetime(2015, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(CASES)])


def add_run(version: DatasetVersion, week: int, level: float) -> Run:
    """A run that passes as many cases as the level says; which ones differs a little by week."""
    draw = np.random.default_rng(week)
    hardness = np.linspace(0, 1, CASES) + draw.normal(0, 0.05, CASES)
    passed = set(np.argsort(hardness)[: round(level * CASES)].tolist())
    scores = [float(case in passed) for case in range(CASES)]
    run = run_with(version, {"right": scores}, name=f"w{week}")
    dated = FIRST_DAY + timedelta(weeks=week)
    OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)
    return run


def line_of(version: DatasetVersion, levels: Sequence[float]) -> DriftLine:
    for week, level in enumerate(levels):
        add_run(version, week, level)
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    return line


def judged(version: DatasetVersion) -> Finding:
    team = version.dataset.team
    wanted = {"kind": "out_of_limits", "limit": None, "scorer": "right", "by": None}
    known = AlertRule.objects.filter(dataset=version.dataset).first()
    rule = known or AlertRule.objects.define(team, version.dataset, **wanted).rule
    found = evaluate_rule(rule, "a", timezone.now())
    assert isinstance(found, Finding)
    return found


def standing(version: DatasetVersion) -> SeriesStatus:
    (found,) = series_statuses(version.dataset.team)
    return found


def about(level: float, runs: int) -> list[float]:
    return [level + 0.01 * (n % 2) for n in range(runs)]


RAMP = [0.95 - 0.02 * n for n in range(20)]
DOWN = [*about(0.85, 10), *about(0.6, 3)]

#: Levels by week, the status, a sentence that must come, what a list says, and the alert's state.
SHAPES = {
    "steady": (
        about(0.8, 12), "steady", "No significant change against the 11 runs since w0 (p", "",
        WatchState.FINE,
    ),
    "step up": (
        [*about(0.6, 10), *about(0.85, 3)], "increased",
        "The level increased with w10: from 0.605 to 0.853 (p < 0.001).",
        "right increased with w10: 0.605 → 0.853.", WatchState.FINE,
    ),
    "step down": (
        DOWN, "decreased", "The level decreased with w10: from 0.855 to 0.603 (p < 0.001).",
        "right decreased with w10: 0.855 → 0.603.", WatchState.FIRING,
    ),
    "step down, by now the usual level": (
        [*about(0.85, 10), *about(0.6, 8)], "steady",
        "No significant change against the 7 runs since w10 (p", "", WatchState.FINE,
    ),
    "up, then down": (
        [*about(0.03, 8), *about(0.85, 8), 0.56], "decreased",
        "The level decreased with w16: from 0.855 to 0.560 (p < 0.001).",
        "right decreased with w16: 0.855 → 0.560.", WatchState.FIRING,
    ),
    "ramp": (
        RAMP, "decreased", "The level decreased with w18: from", "right decreased with w18: ",
        WatchState.FIRING,
    ),
    "one outlier": (
        [*about(0.85, 10), 0.5], "decreased",
        "The level decreased with w10: from 0.855 to 0.500 (p < 0.001).",
        "right decreased with w10: 0.855 → 0.500.", WatchState.FIRING,
    ),
    "one outlier, and back": (
        [*about(0.85, 10), 0.5, *about(0.85, 2)], "steady",
        "w10 was below this level; back at it since w11.",
        "right decreased in w10, back since w11.", WatchState.FINE,
    ),
    "seasonality of two": (
        [0.9, 0.7] * 8, "steady",
        "The level changed and came back more than once, so that all runs since w0 count as its "
        "usual variation.", "", WatchState.FINE,
    ),
}  # fmt: skip


LONG = ("step down, by now the usual level", "up, then down", "ramp")  # in weeks


@pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, marks=[pytest.mark.slow] if shape in LONG else []) for shape in SHAPES],
)
def test_a_known_course_is_told_alike_everywhere(version: DatasetVersion, shape: str) -> None:
    levels, status, sentence, listed, state = SHAPES[shape]
    line = line_of(version, levels)
    assert line.is_measured
    assert line.standing.status == status, line.sentences
    assert any(text.startswith(sentence) for text in line.sentences), line.sentences
    assert report.as_json(line, {})["level"]["status"] == status
    assert "".join(standing(version).sentences).startswith(listed), standing(version).sentences
    assert bool(standing(version).sentences) == bool(listed)
    assert standing(version).is_drifting == (status == "decreased")
    found = judged(version)
    assert found.state == state, found.sentence


@pytest.mark.slow
def test_the_new_level_does_not_alarm_for_ever(version: DatasetVersion) -> None:
    line_of(version, DOWN)
    states = []
    for week in range(len(DOWN), len(DOWN) + 8):
        add_run(version, week, 0.6 + 0.01 * (week % 2))
        measure_series(version.dataset, "a")
        states.append(judged(version).state)
    assert states == [WatchState.FIRING] * 4 + [WatchState.FINE] * 4
    (line,) = drift_lines(version.dataset)
    assert [change.place for change in line.changes] == [10]
    assert line.limited == list(range(10, 21))


def test_lines_of_one_run_share_the_level(version: DatasetVersion) -> None:
    """A drop that is clear for a line alone is not among many."""
    draw = np.random.default_rng(1)
    fell = [1.0] * 90 + [0.0] * 10, [1.0] * 79 + [0.0] * 21
    for week in range(2):
        scores = {"right": fell[week]} | {
            f"other {n}": draw.permutation(fell[0]).tolist() for n in range(5)
        }
        run = run_with(version, scores, name=f"w{week}")
        dated = FIRST_DAY + timedelta(weeks=week)
        OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)
    measure_series(version.dataset, "a")
    lines = {line.scorer: line for line in drift_lines(version.dataset)}
    (judgement,) = lines["right"].decided[-1][1:]
    assert judgement.p == pytest.approx(2 * 0.5**11)
    assert judgement.p_corrected == pytest.approx(6 * judgement.p)
    assert not lines["right"].changes
    assert RunSummary.objects.count() == 12


# Flips that a flat mean hides.


def sentences_of(version: DatasetVersion) -> list[str]:
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    return line.sentences


def flipping(version: DatasetVersion, flips: Sequence[int]) -> list[str]:
    """The sentences of runs with a flat mean, half of whose cases pass: so many flip each week."""
    letters = "p" * 50 + "f" * 50
    for week, count in enumerate(flips):
        half = count // 2
        turned = {"p": "f", "f": "p"}
        changed = [*range(week, week + half), *range(50 + week, 50 + week + half)]
        letters = "".join(turned[c] if n in changed else c for n, c in enumerate(letters))
        run_in_week(version, week, 0.8, letters)
    return [text for text in sentences_of(version) if "changed their verdict" in text]


@pytest.mark.parametrize(
    ("flips", "is_told"), [([0, 20], False), ([0, 20, 20, 20], False), ([0, 4, 4, 4, 4, 30], True)]
)
def test_more_flips_than_usual_are_called_out(
    make_dataset: MakeDataset, flips: list[int], is_told: bool
) -> None:
    version = make_dataset([{"key": f"q{number}"} for number in range(100)])
    found = flipping(version, flips)
    if not is_told:
        assert found == []
        return
    (text,) = found
    assert text.startswith(
        "From w4 to w5 the mean hardly moved (0.800 to 0.800), but 30 of 100 cases changed "
        "their verdict by close:"
    )
    assert text.endswith("(more than usual, p < 0.001).")


def test_flips_that_all_go_one_way_are_called_out(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"q{number}"} for number in range(100)])
    run_in_week(version, 0, 0.8, "p" * 100)
    run_in_week(version, 1, 0.8, "p" * 80 + "f" * 20)
    assert (
        "From w0 to w1 the mean hardly moved (0.800 to 0.800), but 20 of 100 cases changed their "
        "verdict by close: 0 fixed, 20 broke (significantly more broke than were fixed, p < 0.001)."
    ) in sentences_of(version)


@pytest.mark.parametrize("trials", [1, 3])
def test_flips_are_told_only_between_equal_numbers_of_trials(
    version: DatasetVersion, trials: int
) -> None:
    """Sixty cases pass two times of three, so by the mean of three trials they pass. Of one trial
    each twenty fail, which is no news; of three trials each it is.
    """
    steady, wavering = [[1.0] * 3] * 40, [[1.0, 1.0, 0.0]] * 60
    latest = [[1.0]] * 80 + [[0.0]] * 20
    if trials == 3:
        latest = [*steady, *[[1.0] * 3] * 20, *wavering[:20], *[[1.0, 0.0, 0.0]] * 20]
    for week, cases in enumerate([*[[*steady, *wavering]] * 4, latest]):
        scores = [score for case in cases for score in case]
        run = run_with(version, {"right": scores}, trials=len(cases[0]), name=f"w{week}")
        dated = FIRST_DAY + timedelta(weeks=week)
        OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    assert (line.points[-1].broke, line.points[-1].fixed) == (20, 0)
    assert line.points[-1].mean == pytest.approx(0.8)
    newest = DriftResult.objects.get(scorer__run=run)
    assert (newest.mcnemar_p is None) == (trials == 1)
