"""The lists kept of a comparison are those that joining both runs gives."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from django.utils import timezone

from scoring.core.charts.comparison_charts import change_histogram
from scoring.engine.compare import comparison
from scoring.engine.compare.columns import match_cases
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.pair_index import count_pairs, count_unjudged
from scoring.models import PairIndex, Run, Team
from scoring.models.pairs.pair_index import NOT_INDEXED, indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind, ScoreRanges
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.run_pairs import Side, over_one_version, over_two_versions

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[(1, 1), (2, 3), (3, 1)])
def trials(request: pytest.FixtureRequest) -> tuple[int, int]:
    """How many a case has in each run."""
    return tuple(request.param)


@pytest.fixture(params=[over_one_version, over_two_versions])
def sides(
    request: pytest.FixtureRequest, team: Team, make_dataset: MakeDataset, trials: tuple[int, int]
) -> tuple[Side, Side]:
    made: tuple[Side, Side] = request.param(team, make_dataset, trials)
    return made


@pytest.fixture
def runs(sides: tuple[Side, Side]) -> tuple[Run, ...]:
    found = tuple(side.run for side in sides)
    for run in found:
        run.finished_at = timezone.now()
        run.save()
    return found


def positions(runs: tuple[Run, Run], kind: PairKind, scorer: str = "") -> list[int]:
    rows = Pairs(*runs).page(kind, PairFilters(scorer=scorer), size=1_000).rows
    return sorted({row.place.position for row in rows})


def test_each_list_is_kept_as_joining_gives_it(runs: tuple[Run, Run]) -> None:
    comparison._store_comparison(*runs)
    for kind in PairKind:
        kept = indexed_list(*runs, kind)
        assert kept.positions == positions(runs, kind)
        assert kept.total == len(Pairs(*runs).page(kind, size=1_000).rows)


def test_pairs_that_were_not_judged_are_counted_by_what_they_were(
    sides: tuple[Side, Side], runs: tuple[Run, Run], trials: tuple[int, int]
) -> None:
    before, after = (
        {key: "pf"[told.verdict] if told.verdict < 2 else "-" for key, told in side.told.items()}
        for side in sides
    )
    both = Counter(before[key] + after[key] for key in before.keys() & after.keys())
    wanted = (both["p-"], both["f-"], both["-p"] + both["-f"], both["--"])
    found = count_unjudged(match_cases(Pairs(*runs)))
    assert found == wanted
    assert all(found) or max(trials) > 1  # of which hardly a case is left without a verdict


def test_the_flips_of_each_scorer_are_kept(runs: tuple[Run, Run]) -> None:
    comparison._store_comparison(*runs)
    for kind in (PairKind.BROKE, PairKind.FIXED):
        kept = indexed_list(*runs, kind, "close")
        assert kept.positions == positions(runs, kind, "close") != []
        assert kept.total == len(
            Pairs(*runs).page(kind, PairFilters(scorer="close"), size=1_000).rows
        )


def test_the_bars_of_each_scorer_are_kept(
    make_dataset: MakeDataset, trials: tuple[int, int]
) -> None:
    count, coin = 40, random.Random(3)
    version = make_dataset([{"key": f"q{n}"} for n in range(count)])
    runs = [
        run_with(version, {"close": [drawn(coin) for _ in range(count * each)]}, trials=each)
        for each in trials
    ]
    baseline, candidate = runs
    [scorer] = Figures.read(comparison.compare_runs(baseline, candidate).figures).scorers
    bars = [bar for bar in change_histogram(scorer.histogram).bars if bar.cases]
    assert len(bars) > 5
    for bar in bars:
        asked = PairFilters("close", ranges=ScoreRanges(change=bar.change))
        rows = Pairs(baseline, candidate).page(PairKind.PAIRS, asked, size=1_000).rows
        kept = indexed_list(baseline, candidate, PairKind.PAIRS, "close", bar.change)
        assert kept.positions == sorted({row.place.position for row in rows})
        assert (kept.total, len(kept.positions)) == (len(rows), bar.cases)
        again = Pairs(baseline, candidate).page(
            PairKind.PAIRS, asked, size=1_000, positions=kept.positions
        )
        assert again.rows == rows
    assert indexed_list(baseline, candidate, PairKind.PAIRS, "close") == NOT_INDEXED


def drawn(coin: random.Random) -> Given:
    """Hundredths, so that some changes lie on the edges of bars."""
    return "error" if coin.random() < 0.1 else coin.randrange(0, 101, 5) / 100


def test_of_bars_with_many_cases_nothing_is_kept(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.scores.MAX_INDEXED", 2)
    version = make_dataset([{"key": f"q{n}"} for n in range(6)])
    old = run_with(version, {"close": [0.9] * 6})
    new = run_with(version, {"close": [0.1, 0.1, 0.1, 0.5, 0.5, 0.9]})
    comparison.compare_runs(old, new)
    kept = PairIndex.objects.exclude(change="").values_list("change", "total", "positions")
    assert sorted(kept) == [("-0.05..0.05", 1, [6]), ("-0.45..-0.35", 2, [4, 5])]


def test_of_many_only_the_number_is_kept(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.pair_index.MAX_POSITIONS", 3)
    comparison._store_comparison(*runs)
    for kind in PairKind:
        kept, rows = indexed_list(*runs, kind), Pairs(*runs).page(kind, size=1_000).rows
        assert kept.total == len(rows)
        assert (kept.positions is None) == (len(rows) > 3)


def test_keeping_again_replaces_what_was_kept(runs: tuple[Run, Run]) -> None:
    first = comparison._store_comparison(*runs)
    count = PairIndex.objects.filter(comparison=first).count()
    PairIndex.objects.filter(kind="broke").update(positions=[99], total=99)
    assert comparison._store_comparison(*runs).pk == first.pk
    assert PairIndex.objects.filter(comparison=first).count() == count
    assert indexed_list(*runs, PairKind.BROKE).positions == positions(runs, PairKind.BROKE)


def test_counts_of_columns_are_those_of_the_database(runs: tuple[Run, Run]) -> None:
    pairs = Pairs(*runs)
    assert count_pairs(pairs, match_cases(pairs)) == pairs.counts()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1.0, "error", "None of 40 cases broke or was fixed; 11 passed before but could not"),
        (1.0, "skip", "None of 40 cases broke or was fixed; 11 passed before but could not"),
        (0.0, "error", "None of 40 cases broke or was fixed; 11 failed before but could not"),
        ("error", 1.0, "None of 40 cases broke or was fixed; 11 could not be judged before; "),
        ("skip", "error", "was fixed; 11 could not be judged in either run; no scorer"),
        (1.0, 0.0, "11 of 40 cases broke, 0 were fixed (statistically significant, p < 0.001); "),
    ],
)
def test_the_headline_names_cases_that_turned_into_errors_or_skips(
    make_dataset: MakeDataset, before: Given, after: Given, said: str
) -> None:
    version = make_dataset([{} for _ in range(40)])
    runs = [run_with(version, {"close": [x] * 11 + [1.0] * 29}) for x in (before, after)]
    assert said in comparison.compute_figures(*runs).sentence
