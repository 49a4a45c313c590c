"""Limits of what is usual, and the rules by which a level changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.drift_alarms import has_alarm
from scoring.core.stats.case_sums import CaseSums, add_sums, sum_run
from scoring.core.stats.change_points import (
    DecidedRun,
    LevelPeriod,
    NextRun,
    Outcome,
    control_limits,
    decide_outcome,
    decide_runs,
    find_changes,
    find_periods,
)
from scoring.core.stats.paired_tests import holm

unit = st.floats(0, 1)

#: Ten values whose nine moving ranges sum up to 0.18: limits 0.8 ± 2.66 times 0.02.
STEADY = [0.79, 0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.81]


def test_a_worked_individuals_chart() -> None:
    limits = control_limits(STEADY)
    assert limits is not None
    assert limits.n == 10
    assert (limits.centre, limits.low, limits.high) == pytest.approx((0.8, 0.7468, 0.8532))


@pytest.mark.parametrize(("runs", "has_limits"), [(0, False), (7, False), (8, True)])
def test_fewer_than_eight_runs_have_no_limits(runs: int, has_limits: bool) -> None:
    assert (control_limits([0.5] * runs) is not None) is has_limits


def test_limits_look_back_on_twenty_runs() -> None:
    assert control_limits([0.0] * 30 + [0.8] * 20) == (0.8, 0.8, 0.8, 20)


@given(st.lists(unit, min_size=8, max_size=40))
def test_limits_stay_where_scores_are(values: list[float]) -> None:
    limits = control_limits(values)
    assert limits is not None
    assert 0 <= limits.low <= limits.centre + 1e-9
    assert limits.centre - 1e-9 <= limits.high <= 1


def judged(outcomes: str, means: Sequence[float] = ()) -> list[DecidedRun]:
    """A run a letter: f first, . steady, C changed, a digit for how many levels it leaves."""
    found = []
    for place, each in enumerate(outcomes):
        mean = means[place] if place < len(means) else 0.8
        names = {"f": Outcome.FIRST, ".": Outcome.STEADY, "C": Outcome.CHANGED}
        outcome, back = names.get(each, Outcome.RETURNED), int(each) if each.isdigit() else 0
        found.append(DecidedRun(mean, outcome, back, 0.001, 0.001))
    return found


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ("", []),
        ("f..", [LevelPeriod([0, 1, 2])]),
        ("f.C.", [LevelPeriod([0, 1]), LevelPeriod([2, 3])]),
        ("f.C1.", [LevelPeriod([0, 1, 3, 4], [2])]),
        ("f.C.1", [LevelPeriod([0, 1, 4], [2, 3])]),
        ("f.CC2", [LevelPeriod([0, 1, 4], [2, 3])]),
        ("f.C1C1", [LevelPeriod([0, 1, 2, 3, 4, 5], [], is_varied=True)]),
        ("f.C1" + "." * 25 + "C1", [LevelPeriod([0, 1, *range(3, 29), 30], [2, 29])]),
        ("..C", [LevelPeriod([0, 1]), LevelPeriod([2])]),  # the line's first runs are not there
        ("3.C", [LevelPeriod([0, 1]), LevelPeriod([2])]),
    ],
)
def test_runs_are_grouped_into_periods(outcomes: str, found: list[LevelPeriod]) -> None:
    assert find_periods(judged(outcomes)) == found


@given(st.text("f.C123", max_size=40))
def test_every_run_lies_in_one_period(outcomes: str) -> None:
    found = find_periods(judged(outcomes))
    places = sorted(place for each in found for place in (*each.runs, *each.left))
    assert places == list(range(len(outcomes)))


def test_a_change_tells_both_levels() -> None:
    runs = judged("f.C1..C.", [0.8, 0.82, 0.1, 0.81, 0.8, 0.82, 0.5, 0.6])
    (change,) = find_changes(runs, find_periods(runs))
    assert change.place == 6
    assert (change.before, change.after, change.p) == pytest.approx((0.81, 0.55, 0.001))


USUAL = judged("f" + "." * 7, [0.79, 0.81] * 4)


@pytest.mark.parametrize(
    ("runs", "mean", "p", "corrected", "outcome"),
    [
        ([], 0.8, None, None, Outcome.FIRST),
        (USUAL[:3], 0.5, None, None, Outcome.STEADY),
        (USUAL[:3], 0.5, 0.0025, 0.005, Outcome.CHANGED),
        (USUAL[:3], 0.5, 0.0026, 0.0026, Outcome.STEADY),
        (USUAL[:3], 0.5, 0.001, 0.0051, Outcome.STEADY),
        (USUAL, 0.5, 0.001, 0.001, Outcome.CHANGED),
        (USUAL, 0.76, 0.001, 0.001, Outcome.STEADY),  # inside the limits
        (judged("fC1C1", [0.9, 0.5] * 3), 0.1, 0.001, 0.001, Outcome.STEADY),  # varied, no limits
    ],
)
def test_what_makes_a_change_of_level(
    runs: list[DecidedRun], mean: float, p: float | None, corrected: float | None, outcome: Outcome
) -> None:
    assert decide_outcome(runs, mean, p, corrected, lambda _: 0.001).outcome == outcome


@pytest.mark.parametrize(
    ("outcomes", "p", "ps", "back"),
    [
        ("f..C", 0.0001, [0.3], 1),
        ("f..C", 0.05, [0.3], 1),
        ("f..C", 0.051, [0.3], 0),
        ("f..C", 0.0001, [0.05], 0),
        ("f..CC", 0.0001, [0.01, 0.3], 2),
        ("f..C......", 0.0001, [0.3], 1),
        ("f..C.......", 0.0001, [0.3], 0),  # by now the new level is the usual one
    ],
)
def test_a_run_returns_to_an_earlier_level(
    outcomes: str, p: float, ps: list[float], back: int
) -> None:
    answers = iter(ps)
    found = decide_outcome(judged(outcomes), 0.2, p, p, lambda _: next(answers))
    assert (found.outcome == Outcome.RETURNED, found.back) == (bool(back), back)


def sums(scores: float, cases: int = 40) -> CaseSums:
    return sum_run(np.arange(cases), np.full(cases, scores))


def next_run(mean: float) -> NextRun:
    """A line of three steady runs at 0.5 and one more, all of whose cases score its mean."""
    levels = [0.5, 0.5, 0.5, mean]

    def sums_of(places: Sequence[int]) -> CaseSums:
        return reduce(add_sums, [sums(levels[place]) for place in places])

    return NextRun(judged("f..", levels), mean, sums_of)


def test_each_line_is_tested_against_its_own_level() -> None:
    first, same, lower = decide_runs(
        [NextRun([], 0.5, lambda _: sums(0.5)), next_run(0.5), next_run(0.4)]
    )
    assert (first.outcome, first.p) == (Outcome.FIRST, None)
    assert (same.outcome, same.p, same.p_corrected) == (Outcome.STEADY, 1.0, 1.0)
    assert (lower.outcome, lower.p_corrected) == (Outcome.CHANGED, 0.0)


def drawn_line(scores: np.ndarray) -> NextRun:
    """A line of one run and a next one."""
    return NextRun(judged("f"), 0.5, lambda places: sum_run(np.arange(40), scores[places[0]]))


def test_the_lines_of_a_run_and_the_series_of_a_dataset_are_corrected_together() -> None:
    draw = np.random.default_rng(1)
    lines = [drawn_line(draw.random((2, 40))) for _ in range(2)]
    ps = [line.p_against(LevelPeriod([0])) or 0.0 for line in lines]
    alone = [decide_runs([line])[0].p_corrected for line in lines]
    assert alone == pytest.approx(ps)
    together = [run.p_corrected for run in decide_runs(lines, known=[0.9])]
    assert together == pytest.approx(holm([*ps, 0.9])[:2])
    shared = [run.p_corrected for run in decide_runs(lines, series=3)]
    assert shared == pytest.approx([min(1.0, 3 * p) for p in holm(ps)])


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "rounds", "promise"), [(1, 60, 0.05), (6, 15, 0.1)])
@pytest.mark.parametrize(("size", "level"), [(50, 0.97), (200, 0.5)])
def test_unchanged_lines_rarely_alarm(
    size: int, level: float, lines: int, rounds: int, promise: float
) -> None:
    """The bound is what a rate at the promise exceeds once in 1,000 times."""
    draw = np.random.default_rng(size)
    alarms = sum(has_alarm(draw, size, level, 0.5, lines) for _ in range(rounds))
    assert alarms <= stats.binom.ppf(0.999, rounds, promise)
