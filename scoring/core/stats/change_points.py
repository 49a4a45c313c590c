"""Change points: where the level of a scorer's means changed over time.

Every run is tested once, against the earlier runs of its period: those since the last change of
level. The rules of `decide_outcome` come from simulations, which `benchmarks/drift_alarms.py`
repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from statistics import fmean
from typing import Final, NamedTuple

from scoring.core.stats.case_sums import CaseSums, change_p
from scoring.core.stats.paired_tests import holm

MIN_RUNS: Final = 8  # runs that limits need, and that make a level the usual one
WINDOW: Final = 20  # runs that limits look back on
LINE_LEVEL: Final = 0.0025  # of a run's test: over 20 runs that makes 5 % for a line
PAGE_LEVEL: Final = 0.005  # of all tests of a page's newest runs together
SAME_LEVEL: Final = 0.05  # a run that the test rejects less clearly may belong to a level
_SPREAD: Final = 2.66  # 3 / 1.128, the expected range of two normal values in deviations


class ControlLimits(NamedTuple):
    """What the next run of an unchanged system will hardly leave; from the latest `n` runs."""

    centre: float
    low: float
    high: float
    n: int


class Outcome(IntEnum):
    """What a run is to the ones before it on its line."""

    FIRST = 0  # there are none to compare it with
    STEADY = 1
    CHANGED = 2  # the first run of another level
    RETURNED = 3  # back at an earlier level, which was left for a few runs


class DecidedRun(NamedTuple):
    """A run on a line. `back` counts the levels that a run which RETURNED leaves behind.

    `p` is that of its test against the period it came after, None where no case was scored in
    both; `p_corrected` counts the tests of the other lines of the page.
    """

    mean: float
    outcome: Outcome
    back: int = 0
    p: float | None = None
    p_corrected: float | None = None


class ChangePoint(NamedTuple):
    """The level changed with the run at `place`: it is the first of the new level."""

    place: int
    before: float
    after: float
    p: float


@dataclass
class LevelPeriod:
    """The places of the runs of one level. `left` holds runs outside it, each before one that
    returned to it; `is_varied` where that happened twice within WINDOW runs, so that they count.
    """

    runs: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    is_varied: bool = False

    @property
    def is_usual(self) -> bool:
        return len(self.runs) >= MIN_RUNS

    def take_back(self, others: Sequence[LevelPeriod]) -> None:
        """Runs of other levels lie in between. The second time they are its usual variation."""
        between = sorted(place for other in others for place in (*other.runs, *other.left))
        if self.is_varied or any(place >= between[0] - WINDOW for place in self.left):
            self.runs = sorted([*self.runs, *self.left, *between])
            self.left, self.is_varied = [], True
        else:
            self.left += between


def control_limits(values: Sequence[float]) -> ControlLimits | None:
    """The individuals chart of the runs of one period, oldest first; None below MIN_RUNS.

    Centre ± 2.66 times the mean moving range: NIST/SEMATECH e-Handbook of Statistical Methods,
    6.3.2.2. Means and rates lie in 0..1, so the limits do.
    """
    if len(values) < MIN_RUNS:
        return None
    latest = values[-WINDOW:]
    centre = fmean(latest)
    reach = _SPREAD * fmean(abs(one - other) for one, other in pairwise(latest))
    return ControlLimits(centre, max(0.0, centre - reach), min(1.0, centre + reach), len(latest))


def find_periods(runs: Sequence[DecidedRun]) -> list[LevelPeriod]:
    """The periods of a line without breaks, oldest first; the last one holds the newest run."""
    periods: list[LevelPeriod] = []
    for place, run in enumerate(runs):
        back = min(run.back, len(periods) - 1)  # the first runs of the line may be missing
        if run.outcome == Outcome.RETURNED and back > 0:
            periods[-1 - back].take_back(periods[-back:])
            del periods[-back:]
        elif run.outcome == Outcome.CHANGED or not periods:
            periods.append(LevelPeriod())
        periods[-1].runs.append(place)
    return periods


def find_changes(runs: Sequence[DecidedRun], periods: Sequence[LevelPeriod]) -> list[ChangePoint]:
    """Where one period follows another, oldest first, with the mean of each one's runs."""
    levels = [fmean(runs[place].mean for place in period.runs) for period in periods]
    return [
        ChangePoint(period.runs[0], before, after, runs[period.runs[0]].p_corrected or 0.0)
        for period, (before, after) in zip(periods[1:], pairwise(levels), strict=True)
    ]


def decide_outcome(
    runs: Sequence[DecidedRun],
    mean: float,
    p: float | None,
    p_corrected: float | None,
    p_against: Callable[[LevelPeriod], float | None],
) -> DecidedRun:
    """What the next run of a line is, whose mean this is, from its test against the period.

    The level has changed where p is at most LINE_LEVEL, corrected PAGE_LEVEL, and where the
    period has limits, the mean lies outside them. Until a new level is the usual one a run may
    return to an earlier one: where p is at most SAME_LEVEL and against that one above it.
    """
    if not runs:
        return DecidedRun(mean, Outcome.FIRST)
    periods = find_periods(runs)
    if p is None or p_corrected is None:
        return DecidedRun(mean, Outcome.STEADY)
    if p <= SAME_LEVEL:
        for back, period in enumerate(open_periods(periods)[1:], 1):
            if (p_against(period) or 0.0) > SAME_LEVEL:
                return DecidedRun(mean, Outcome.RETURNED, back, p, p_corrected)
    is_significant = p <= LINE_LEVEL and p_corrected <= PAGE_LEVEL
    is_change = is_significant and _is_outside(runs, periods[-1], mean)
    return DecidedRun(mean, Outcome.CHANGED if is_change else Outcome.STEADY, 0, p, p_corrected)


def open_periods(periods: Sequence[LevelPeriod]) -> list[LevelPeriod]:
    """Those that the next run may belong to, the newest first: up to a usual level."""
    usual = next((n for n in reversed(range(len(periods))) if periods[n].is_usual), 0)
    return list(periods[usual:])[::-1]


def _is_outside(runs: Sequence[DecidedRun], period: LevelPeriod, mean: float) -> bool:
    """Beyond the limits, if there are any. Runs that vary are judged by limits alone."""
    limits = control_limits([runs[place].mean for place in period.runs])
    if limits is None:
        return not period.is_varied
    return not limits.low <= mean <= limits.high


SumsOf = Callable[[Sequence[int]], CaseSums]  # of the runs at these places of the line


class NextRun(NamedTuple):
    """A line's next run: the runs before it without a break in between, and its mean.

    The first run of a line is not tested, so `sums_of` is not called for it.
    """

    runs: Sequence[DecidedRun]
    mean: float
    sums_of: SumsOf

    def p_against(self, period: LevelPeriod) -> float | None:
        return change_p(self.sums_of(period.runs), self.sums_of([len(self.runs)]))


def decide_runs(
    next_runs: Sequence[NextRun], *, series: int = 1, known: Sequence[float] = ()
) -> list[DecidedRun]:
    """What each line's next run is to the runs before it.

    The lines of one run are corrected together by Holm, `known` being the p of those that were
    decided before; the series of a dataset share the level equally.
    """
    ps = [run.p_against(find_periods(run.runs)[-1]) if run.runs else None for run in next_runs]
    tested = [p for p in ps if p is not None]
    corrected = iter(holm([*tested, *known]))
    return [
        decide_outcome(
            run.runs,
            run.mean,
            p,
            None if p is None else min(1.0, series * next(corrected)),
            run.p_against,
        )
        for run, p in zip(next_runs, ps, strict=True)
    ]
