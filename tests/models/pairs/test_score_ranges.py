"""The cases behind a dot and behind a bar: as many as it stands for, and each in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.core.charts.comparison_charts import ScoreRange, change_histogram, scatter_chart
from scoring.engine.compare.comparison import compute_figures
from scoring.engine.compare.figures import GRID, ScorerFigures
from scoring.models import Dataset, DatasetVersion, Run, Team
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind, ScoreRanges
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.thoroughness import examples
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

BEFORE = [1.0, 1.0, 0.9, 0.2, 0.3, 0.8, 0.7, 0.9]
AFTER = [0.1, 0.4, 0.9, 0.9, 0.3, 0.8, 0.6, 0.9]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}"} for n in range(8)])


@pytest.fixture
def pairs(version: DatasetVersion) -> Pairs:
    old, new = (run_with(version, {"close": scores}) for scores in (BEFORE, AFTER))
    return Pairs(old, new)


def keys(pairs: Pairs, kind: PairKind = PairKind.PAIRS, **ranges: tuple[float, float]) -> list[str]:
    asked = ScoreRanges(**{name: ScoreRange(*span) for name, span in ranges.items()})
    return [pair.key for pair in pairs.page(kind, PairFilters("close", ranges=asked)).rows]


def test_a_range_holds_its_cases(pairs: Pairs, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, tuple[float, float]], str]] = [
        ({"was": (0.9, 1.0)}, "q0 q1 q2 q7"),
        ({"was": (0.8, 0.9)}, "q5"),  # the upper bound belongs to the next range
        ({"now": (0.0, 0.4)}, "q0 q4"),
        ({"was": (0.9, 1.0), "now": (0.0, 0.5)}, "q0 q1"),
        ({"change": (-0.1, 0.1)}, "q2 q4 q5 q7"),
        ({"change": (-0.15, -0.1)}, "q6"),
        ({"change": (-1.0, -0.1)}, "q0 q1 q6"),
        ({"change": (0.0, 1.0)}, "q3"),  # rose
        ({"change": (-1.0, 0.0)}, "q0 q1 q6"),  # fell
        ({"change": (0.7, 1.0)}, "q3"),
        ({"change": (0.1, 0.7)}, ""),
        ({"was": (0.0, 1.0), "change": (-0.65, -0.55)}, "q1"),
    ]
    for ranges, found in cases:
        with subtests.test(ranges=ranges, found=found), undone():
            assert keys(pairs, **ranges) == found.split()


def test_a_range_and_a_kind_narrow_each_other(pairs: Pairs) -> None:
    assert keys(pairs, PairKind.BROKE, was=(0.9, 1.0), now=(0.0, 0.2)) == ["q0"]
    assert keys(pairs, PairKind.FIXED, was=(0.9, 1.0)) == []
    for kind in (PairKind.ONLY_BASELINE, PairKind.ONLY_CANDIDATE, PairKind.EDITED):
        assert keys(pairs, kind, was=(0.0, 1.0)) == []


def test_without_a_range_all_pairs_are_listed(pairs: Pairs) -> None:
    assert keys(pairs) == [f"q{n}" for n in range(8)]
    assert pairs.count(PairKind.PAIRS) == 8


def test_neighbours_stay_in_the_range(pairs: Pairs) -> None:
    filters = PairFilters("close", ranges=ScoreRanges(was=ScoreRange(0.9, 1.0)))
    rows = pairs.page(PairKind.PAIRS, filters).rows
    before, after = pairs.neighbours(PairKind.PAIRS, filters, rows[1].place)
    assert (before, after) == (rows[0].place, rows[2].place)


def test_pages_of_a_range_follow_each_other(pairs: Pairs) -> None:
    filters = PairFilters("close", ranges=ScoreRanges(was=ScoreRange(0.9, 1.0)))
    first = pairs.page(PairKind.PAIRS, filters, size=2)
    rest = pairs.page(PairKind.PAIRS, filters, after=first.rows[-1].place, size=2)
    assert [pair.key for pair in (*first.rows, *rest.rows)] == ["q0", "q1", "q2", "q7"]
    assert (first.has_next, rest.has_next) == (True, False)


def test_versions_of_a_dataset_meet_by_key(make_dataset: MakeDataset) -> None:
    old = make_dataset([{"key": key} for key in "abc"])
    new = make_dataset([{"key": key} for key in "cba"])
    runs = [
        run_with(version, {"close": scores})
        for version, scores in ((old, [1.0, 0.5, 0.2]), (new, [0.2, 0.5, 0.1]))
    ]
    assert keys(Pairs(*runs), was=(0.9, 1.0), now=(0.0, 0.2)) == ["a"]
    assert keys(Pairs(*runs), change=(-1.0, -0.85)) == ["a"]


SCORES = st.one_of(
    st.integers(0, 25).map(lambda n: n / 25),  # on the edges of cells
    st.integers(0, 20).map(lambda n: n / 20),  # changes on the edges of bars
    st.integers(0, 10**9).map(lambda n: n / 10**9),
    st.sampled_from(["error", "skip"]),
)
quick = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@quick
@given(st.data(), st.sampled_from([(1, 1), (3, 3), (1, 2), (3, 1)]))
def test_dots_and_bars_hold_as_many_cases_as_they_stand_for(
    team: Team, make_dataset: MakeDataset, data: st.DataObject, trials: tuple[int, int]
) -> None:
    """Every case stands in one dot and in one bar, also where the mean of its trials does."""
    Run.objects.filter(team=team).delete()
    Dataset.objects.filter(team=team).delete()
    version = make_dataset([{} for _ in range(4)])
    sides: list[Sequence[Given]] = [
        data.draw(st.lists(SCORES, min_size=4 * count, max_size=4 * count)) for count in trials
    ]
    runs = [
        run_with(version, {"close": side}, trials=count)
        for side, count in zip(sides, trials, strict=True)
    ]
    (scorer,) = compute_figures(*runs).scorers
    in_dots = [cases_in(runs, ranges) for ranges in dots(scorer)]
    in_bars = [cases_in(runs, ranges) for ranges in bars(scorer)]
    assert [len(cases) for cases in in_dots] == [cell.cases for cell in scorer.scatter]
    assert [len(cases) for cases in in_bars] == [n for n in scorer.histogram if n]
    for places in (in_dots, in_bars):
        assert sum(len(cases) for cases in places) == len(set().union(*places)) == scorer.n


def dots(scorer: ScorerFigures) -> list[ScoreRanges]:
    cells = [(cell.x, cell.y, cell.cases) for cell in scorer.scatter]
    drawn = scatter_chart(cells, GRID, scorer.thresholds).dots
    return [ScoreRanges(was=dot.before, now=dot.after) for dot in drawn]


def bars(scorer: ScorerFigures) -> list[ScoreRanges]:
    drawn = [bar for bar in change_histogram(scorer.histogram).bars if bar.cases]
    return [ScoreRanges(change=bar.change) for bar in drawn]


def cases_in(runs: list[Run], ranges: ScoreRanges) -> set[Any]:
    page = Pairs(*runs).page(PairKind.PAIRS, PairFilters("close", ranges=ranges))
    return {pair.key for pair in page.rows}
