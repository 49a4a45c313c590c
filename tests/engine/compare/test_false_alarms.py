"""Equal runs by the whole way, from rows to what is said of them: alarms are as rare as stated.

Each bound is what a true rate at its limit would exceed once in 1,000 times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import stats

from scoring.core.stats import paired_tests
from scoring.core.stats.change_points import PAGE_LEVEL
from scoring.core.wording.comparison import ALPHA
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.figures import Figures
from scoring.engine.drift import drift_lines, measure_series
from scoring.engine.drift.series_status import series_statuses
from scoring.models import DatasetVersion, OutputSet, Team
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.simulated_pairs import claims_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CASES = 30
ROUNDS = 30
TAGS = ("a", "b", "c")
SERIES, WEEKS = 10, 14
FIRST_DAY = datetime(2015, 1, 5, 9, tzinfo=UTC)


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
        yield read_figures(compare_runs(*runs))


def alarms(ps: list[list[float | None]]) -> int:
    """In how many rounds any p is at most ALPHA."""
    return sum(any(p is not None and p <= ALPHA for p in of_round) for of_round in ps)


def test_equal_runs_rarely_alarm_after_correction(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any claim of a page; `test_comparison_claims` draws more of them, without a database."""
    monkeypatch.setattr(paired_tests, "RESAMPLES", 1_000)
    rounds = list(equal_runs(version))
    limit = most(ROUNDS, ALPHA)
    assert alarms([[*claims_of([found])] for found in rounds]) <= limit
    assert all(len(found.slices) == len(TAGS) * 2 for found in rounds)
    # Uncorrected there are more: several tests a round, each with a rate of its own.
    tests = [[*found.scorers, *found.slices] for found in rounds]
    assert alarms([[each.p for each in of_round] for of_round in tests]) > limit
    for scorer in (scorer for found in rounds for scorer in found.scorers):
        told = scorer.sentence.replace("not statistically", "")
        ps = (scorer.p_corrected or 1, scorer.flips.p_corrected or 1)
        assert ("statistically significant" in told) == (min(ps) <= ALPHA)


def add_weeks(version: DatasetVersion, series: str, eases: Sequence[np.ndarray], seed: int) -> None:
    """A run a week, whose cases succeed as easily as it says, and what is decided of them."""
    draw = np.random.default_rng(seed)
    for week, ease in enumerate(eases):
        scores = [float(x) for x in draw.random(CASES) < ease]
        run = run_with(version, {"right": scores}, name=f"w{week}", series=series)
        dated = FIRST_DAY + timedelta(weeks=week)
        OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)


def test_steady_series_rarely_change_their_level(version: DatasetVersion, team: Team) -> None:
    """By any run of theirs; ten series share what one page may alarm."""
    draw = np.random.default_rng(23)
    for number in range(SERIES):
        ease = draw.beta(5, 2, CASES)
        add_weeks(version, f"s{number}", [ease] * WEEKS, number)
    for number in range(SERIES):
        measure_series(version.dataset, f"s{number}")
    lines = drift_lines(version.dataset)
    assert len(lines) == SERIES
    assert all(line.is_measured and line.limits for line in lines)
    alarms = sum(bool(line.changes or line.outside) for line in lines)
    assert alarms <= most(1, WEEKS * PAGE_LEVEL)
    assert not [each for each in series_statuses(team) if each.is_drifting]


def test_a_change_of_level_is_found_in_such_series(version: DatasetVersion, team: Team) -> None:
    """So that the test above can fail."""
    high, low = np.full(CASES, 0.9), np.full(CASES, 0.25)
    for number in range(3):
        add_weeks(version, f"s{number}", [high] * 8 + [low] * 2, number)
    for number in range(3):
        measure_series(version.dataset, f"s{number}")
    lines = drift_lines(version.dataset)
    assert [[change.place for change in line.changes] for line in lines] == [[8]] * 3
    assert [each.is_drifting for each in series_statuses(team)] == [True] * 3
