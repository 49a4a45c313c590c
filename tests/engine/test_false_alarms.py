"""Equal runs by the whole way, from rows to what is said of them: alarms are as rare as stated.

Each bound is what a true rate at its limit would exceed once in 1,000 times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from scoring.core import paired
from scoring.core.sentences import ALPHA
from scoring.engine.compare import compared
from scoring.engine.drift import Line, lines_of, measure
from scoring.engine.drift.overview import standings
from scoring.engine.figures import Figures
from scoring.models import Dataset, DatasetVersion, Team
from tests.compared import Given, run_with
from tests.conftest import MakeDataset
from tests.drifting import run_in_week

pytestmark = pytest.mark.django_db

CASES = 30
ROUNDS = 30
TAGS = ("a", "b", "c")
SERIES, WEEKS = 25, 14
CHANGE_LEVEL = 0.01


def most(rounds: int, rate: float) -> int:
    return int(stats.binom.ppf(0.999, rounds, rate))


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"tags": [TAGS[n % 3]]} for n in range(CASES)])


def equal_runs(version: DatasetVersion) -> Iterator[Figures]:
    """The kept figures of pairs of runs from one source: cases differ in how easy they are, the
    runs do not. Scores of one scorer vary smoothly, of the other they are 0 and 1.
    """
    draw = np.random.default_rng(17)

    def noisy(ease: np.ndarray) -> list[Given]:
        return [float(x) for x in np.clip(ease + draw.normal(0, 0.1, CASES), 0, 1)]

    def tossed(ease: np.ndarray) -> list[Given]:
        return [float(x) for x in draw.random(CASES) < ease]

    for _ in range(ROUNDS):
        ease = draw.beta(5, 2, CASES)
        runs = [run_with(version, {"close": noisy(ease), "right": tossed(ease)}) for _ in "xy"]
        yield Figures.read(compared(*runs).figures)


def alarms(ps: list[list[float | None]]) -> int:
    """In how many rounds any p is at most ALPHA."""
    return sum(any(p is not None and p <= ALPHA for p in of_round) for of_round in ps)


def test_equal_runs_rarely_alarm_after_correction(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over scorers by Holm, over slices by Benjamini and Hochberg, and over whole cases."""
    monkeypatch.setattr(paired, "RESAMPLES", 1_000)
    rounds = list(equal_runs(version))
    limit = most(ROUNDS, ALPHA)
    assert alarms([[each.p_corrected for each in found.scorers] for found in rounds]) <= limit
    assert alarms([[each.flips.p_corrected for each in found.scorers] for found in rounds]) <= limit
    assert alarms([[each.q for each in found.slices] for found in rounds]) <= limit
    assert alarms([[found.p] for found in rounds]) <= limit
    assert all(len(found.slices) == len(TAGS) * 2 for found in rounds)
    # Uncorrected there are more: several tests a round, each with a rate of its own.
    tests = [[*found.scorers, *found.slices] for found in rounds]
    assert alarms([[each.p for each in of_round] for of_round in tests]) > limit
    for scorer in (scorer for found in rounds for scorer in found.scorers):
        is_claimed = "larger than chance explains" in scorer.sentence
        assert is_claimed == (scorer.p_corrected is not None and scorer.p_corrected <= ALPHA)


@pytest.fixture
def steady(version: DatasetVersion) -> list[Line]:
    """Series of runs whose means vary about one level, measured and read as a page would."""
    draw = np.random.default_rng(23)
    for number in range(SERIES):
        for week, mean in enumerate(draw.normal(0.8, 0.02, WEEKS)):
            run_in_week(version, week, float(mean), series=f"s{number}")
        measure(version.dataset, f"s{number}")
    return lines_of(version.dataset)


def test_steady_series_rarely_change_their_level_or_leave_their_limits(
    steady: list[Line], team: Team
) -> None:
    """Of points beyond 2.66 moving ranges about 1 in 100 while there are few runs."""
    assert len(steady) == SERIES
    assert all(line.is_measured and line.limits for line in steady)
    assert sum(bool(line.changes) for line in steady) <= most(SERIES, CHANGE_LEVEL)
    outside = sum(len(line.outside) for line in steady)
    assert outside <= most(SERIES * WEEKS, 0.01)
    drifting = [each for each in standings(team) if each.is_drifting]
    assert len(drifting) <= most(SERIES, CHANGE_LEVEL + 0.01)


def test_a_change_of_level_is_found_in_such_series(version: DatasetVersion) -> None:
    """So that the test above can fail: five deviations for half of the runs."""
    draw = np.random.default_rng(29)
    for number in range(10):
        for week, noise in enumerate(draw.normal(0, 0.02, WEEKS)):
            mean = 0.8 - 0.1 * (week >= WEEKS // 2) + float(noise)
            run_in_week(version, week, mean, series=f"s{number}")
    found = [line for line in lines_of(Dataset.objects.get()) if line.changes]
    assert len(found) >= 9
