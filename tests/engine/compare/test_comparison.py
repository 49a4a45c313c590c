"""Figures of two runs against scipy and against counting in plain Python."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.core.stats.paired_tests import holm
from scoring.engine.compare import comparison
from scoring.engine.compare.claims import correct_claims, read_figures
from scoring.engine.compare.comparison import NotComparableError, compare_runs, compute_figures
from scoring.engine.compare.figures import DELTA_BINS, GRID, Figures, ScorerFigures
from scoring.models import (
    Comparison,
    Dataset,
    DatasetVersion,
    JudgeVariance,
    Run,
    RunState,
    Scorer,
    Team,
)
from tests.conftest import MakeDataset
from tests.support.finished_runs import THRESHOLD, Given, run_with
from tests.support.thoroughness import examples

pytestmark = pytest.mark.django_db

CASES = 30


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "tags": tags_of(n)} for n in range(CASES)])


def tags_of(n: int) -> list[str]:
    steps = (("all", 1), ("third", 3), ("sixth", 6), ("rare", 10))
    return [tag for tag, step in steps if n % step == 0]


def drawn(seed: int, shift: float = 0.0, n: int = CASES) -> list[float]:
    draw = np.random.default_rng(seed)
    return [round(float(x), 3) for x in np.clip(draw.beta(4, 3, n) + shift, 0, 1)]


def only(figures: Figures) -> ScorerFigures:
    (found,) = figures.scorers
    return found


GIVEN = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0, "error", "skip"])
LOST = {"error", "skip"}
MANY = st.lists(st.tuples(GIVEN, GIVEN), min_size=1, max_size=12)


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(MANY)
def test_everything_countable_is_counted_as_by_hand(
    team: Team, make_dataset: MakeDataset, pairs: list[tuple[Given, Given]]
) -> None:
    Run.objects.filter(team=team).delete()
    Dataset.objects.filter(team=team).delete()
    version = make_dataset([{} for _ in pairs])
    runs = [run_with(version, {"close": side}) for side in zip(*pairs, strict=True)]
    found = compute_figures(*runs)
    both = [(a, b) for a, b in pairs if not isinstance(a, str) and not isinstance(b, str)]
    broke = sum(a >= THRESHOLD > b for a, b in both)
    fixed = sum(b >= THRESHOLD > a for a, b in both)
    kinds = [(word(a), word(b)) for a, b in pairs]
    unchanged = kinds.count(("pass", "pass")) + kinds.count(("fail", "fail"))
    neither = sum({a, b} <= LOST for a, b in kinds)
    assert (found.pairs, found.judged, found.broke, found.fixed) == (
        len(pairs),
        len(both),
        broke,
        fixed,
    )
    assert (found.unchanged, found.judged_in_neither) == (unchanged, neither)
    assert found.unclear == sum((a in LOST) != (b in LOST) for a, b in kinds)
    assert (found.only_baseline, found.only_candidate, found.edited) == (0, 0, 0)
    scorer = only(found)
    moves = [round(b - a, 12) for a, b in both]
    assert (scorer.n, scorer.flips.broke, scorer.flips.fixed) == (len(both), broke, fixed)
    assert (scorer.improved, scorer.regressed) == (
        sum(move > 0 for move in moves),
        sum(move < 0 for move in moves),
    )
    assert scorer.delta == (pytest.approx(fmean(moves)) if moves else None)
    assert scorer.histogram == tuple(
        sum(round(move * 10) == centre for move in moves) for centre in range(-10, 11)
    )
    assert {(c.x, c.y): c.cases for c in scorer.scatter} == grid(both)
    flips = stats.binomtest(broke, broke + fixed).pvalue if broke + fixed else 1.0
    assert found.p == (pytest.approx(flips) if both else None)


def word(given: Given) -> str:
    return given if isinstance(given, str) else "pass" if given >= THRESHOLD else "fail"


def grid(both: list[tuple[Any, Any]]) -> dict[tuple[int, int], int]:
    cells = [(min(int(a * GRID), GRID - 1), min(int(b * GRID), GRID - 1)) for a, b in both]
    return {cell: cells.count(cell) for cell in cells}


def test_the_figures_of_each_scorer_are_scipys(version: DatasetVersion) -> None:
    """Three scorers: p from scipy's own permutations, corrected by Holm over the three."""
    old = {name: drawn(seed) for seed, name in enumerate(("close", "exact", "tone"))}
    shifts = {"close": -0.2, "exact": 0.02, "tone": 0.0}
    new = {name: drawn(seed + 10, shifts[name]) for seed, name in enumerate(shifts)}
    found = compute_figures(run_with(version, old), run_with(version, new))
    theirs = {}
    for each in found.scorers:
        moves = np.array(new[each.name]) - np.array(old[each.name])
        theirs[each.name] = float(
            stats.permutation_test(
                (moves,),
                np.mean,
                permutation_type="samples",
                n_resamples=9_999,
                rng=np.random.default_rng(1),
            ).pvalue
        )
        assert each.p == pytest.approx(theirs[each.name], abs=0.02)
        assert each.delta == pytest.approx(moves.mean())
        assert each.means == pytest.approx((fmean(old[each.name]), fmean(new[each.name])))
        assert (each.n, each.method) == (CASES, "resampled")
    family = [p for each in found.scorers for p in (each.p, each.flips.p) if p is not None]
    q = min(stats.false_discovery_control([each.p for each in found.slices]))
    corrected = holm([*family, found.p or 0.0, q])
    assert found.claims == len(corrected) == 8
    assert [each.p_corrected for each in found.scorers] == corrected[:6:2]
    assert [each.flips.p_corrected for each in found.scorers] == corrected[1:6:2]
    assert [found.p_corrected, found.slices_p_corrected] == pytest.approx(corrected[6:])


def test_slices_are_the_tags_with_five_cases(version: DatasetVersion) -> None:
    """`rare` has three cases. The q of each is scipy's own correction of the p of all."""
    runs = [run_with(version, {"close": drawn(n), "tone": drawn(n + 5)}) for n in (1, 2)]
    found = compute_figures(*runs).slices
    assert [(each.tag, each.scorer, each.n) for each in found] == [
        ("all", "close", 30),
        ("all", "tone", 30),
        ("sixth", "close", 5),
        ("sixth", "tone", 5),
        ("third", "close", 10),
        ("third", "tone", 10),
    ]
    qs = stats.false_discovery_control([each.p for each in found])
    assert [each.q for each in found] == pytest.approx(list(qs))
    third = [drawn(2)[n] - drawn(1)[n] for n in range(0, CASES, 3)]
    assert found[4].delta == pytest.approx(fmean(third))


def test_trials_of_a_case_count_as_one_case(make_dataset: MakeDataset) -> None:
    """Ten trials of each of three cases, all broken: chance explains three cases, not thirty."""
    version = make_dataset([{}, {}, {}])
    before, after = (run_with(version, {"close": [value] * 30}, trials=10) for value in (1.0, 0.0))
    found = compute_figures(before, after)
    scorer = only(found)
    assert (found.pairs, found.broke, scorer.flips.broke) == (3, 3, 3)
    assert (scorer.n, scorer.regressed, scorer.p, scorer.flips.p, found.p) == (3, 3, *[0.25] * 3)
    assert "Cases have several trials" in found.warnings[-1]


def test_all_trials_of_a_case_count_whatever_their_number(make_dataset: MakeDataset) -> None:
    """The first trial of each case is right, and two of three are in all: 12 of 18 outputs."""
    version = make_dataset([{}] * 6)
    thrice = run_with(version, {"close": [1, 1, 0, 1, 0, 1] * 3}, trials=3, name="w1")
    once = run_with(version, {"close": [1] * 6}, name="w2")
    found = compute_figures(thrice, once)
    assert only(found).means == pytest.approx((2 / 3, 1))
    assert (found.pairs, found.only_baseline, found.only_candidate) == (6, 0, 0)
    assert (found.broke, found.fixed) == (0, 0)
    assert found.p == only(found).flips.p == only(found).p == 2 / 2**6
    assert found.sentence == (
        "None of 6 cases broke or was fixed; the share of a case's trials that pass changed "
        "significantly (p = 0.031); the rise in close is statistically significant."
    )
    assert found.warnings == (
        "A case has 3 trials in w1 and 1 in w2: each case counts once, by the mean of its trials. "
        "More trials even out chance, so verdicts can change by that alone; tested is the share "
        "of trials that pass.",
    )


def test_trials_are_averaged_case_by_case(make_dataset: MakeDataset) -> None:
    """A case with an error in one trial is as good as its other trial."""
    version = make_dataset([{}, {}])
    before = run_with(version, {"close": [0.2, 0.4, 1.0, "error"]}, trials=2)
    after = run_with(version, {"close": [0.6, 0.6, 0.5, 0.9]}, trials=2)
    found = only(compute_figures(before, after))
    assert found.means == pytest.approx(((0.3 + 1.0) / 2, (0.6 + 0.7) / 2))
    assert (found.n, found.improved, found.regressed) == (2, 1, 1)


def test_versions_with_moved_edited_removed_and_added_cases(make_dataset: MakeDataset) -> None:
    old = make_dataset([{"key": key, "input": key} for key in "abcde"])
    new = make_dataset([{"key": key, "input": key.replace("b", "B")} for key in "edbxy"])
    before = run_with(old, {"close": [1.0, 1.0, 1.0, 1.0, 0.0]})
    after = run_with(new, {"close": [1.0, 0.0, 1.0, 1.0, 1.0]})
    found = compute_figures(before, after)
    assert (found.pairs, found.broke, found.fixed, found.unchanged) == (3, 1, 1, 1)
    assert (found.only_baseline, found.only_candidate, found.edited) == (2, 2, 1)
    assert found.warnings == (
        "The runs are over versions v1 and v2 of the dataset: cases match by key, "
        "1 case was edited.",
    )
    cell = next(cell for cell in only(found).scatter if cell.y == 0)
    assert (cell.x, cell.cases, cell.position) == (GRID - 1, 1, 2)  # d, second in the new version


def test_other_versions_thresholds_and_scorers_are_named(version: DatasetVersion) -> None:
    before = run_with(version, {"close": drawn(1), "left": drawn(2)})
    Scorer.objects.get(name="close").revise({"case_sensitive": True}, by=None)
    after = run_with(version, {"close": drawn(1), "joined": drawn(2)}, thresholds={"close": 0.75})
    found = compute_figures(before, after)
    assert [each.name for each in found.scorers] == ["close"]
    assert (only(found).versions, only(found).thresholds) == ((1, 2), (0.5, 0.75))
    assert found.warnings == (
        "close: version 1 and version 2 scored the runs, so a difference may be the scorer's own.",
        "close: the threshold was 0.5 and then 0.75, so verdicts differ by that, too.",
        "Only the baseline has left: case verdicts rest on different scorers.",
        "Only the candidate has joined: case verdicts rest on different scorers.",
    )
    flips = sum(0.5 <= score < 0.75 for score in drawn(1))
    assert (only(found).flips.broke, only(found).regressed) == (flips, 0)


def test_runs_without_a_common_scorer_still_compare_verdicts(version: DatasetVersion) -> None:
    found = compute_figures(
        run_with(version, {"one": [1.0] * CASES}), run_with(version, {"other": [0.0] * CASES})
    )
    assert (found.scorers, found.slices, found.broke) == ((), (), CASES)


def test_without_a_pair_nothing_is_claimed(make_dataset: MakeDataset) -> None:
    one, other = make_dataset([{"key": "a"}]), make_dataset([{"key": "b"}])
    found = compute_figures(run_with(one, {"close": [1.0]}), run_with(other, {"close": [0.0]}))
    assert (found.pairs, found.p, found.sentence) == (0, None, "The runs have no case in common.")
    scorer = only(found)
    assert (scorer.n, scorer.delta, scorer.means, scorer.p, scorer.p_corrected) == (0, *[None] * 4)
    assert (sum(scorer.histogram), len(scorer.histogram), scorer.scatter) == (0, DELTA_BINS, ())


def test_a_run_compared_with_itself_shows_nothing(version: DatasetVersion) -> None:
    run = run_with(version, {"close": [*drawn(1)[:-2], "error", "skip"]})
    found = compute_figures(run, run)
    assert (found.pairs, found.unchanged, found.warnings) == (CASES, CASES - 2, ())
    assert found.judged_in_neither == 2
    assert (found.broke, found.fixed, found.unclear, found.p) == (0, 0, 0, 1.0)
    scorer = only(found)
    assert (scorer.delta, scorer.interval, scorer.p) == (0.0, (0.0, 0.0), 1.0)
    assert (scorer.improved, scorer.regressed, scorer.flips.n) == (0, 0, CASES - 2)
    assert {(cell.x, cell.x) for cell in scorer.scatter} == {(c.x, c.y) for c in scorer.scatter}


def test_turned_round_everything_is_mirrored(version: DatasetVersion) -> None:
    one = run_with(version, {"close": drawn(1)})
    other = run_with(version, {"close": [*drawn(2, -0.1)[:-1], "error"]}, leaves_out=[])
    there, back = compute_figures(one, other), compute_figures(other, one)
    assert (there.broke, there.fixed, there.p) == (back.fixed, back.broke, back.p)
    assert (there.unchanged, there.unclear) == (back.unchanged, back.unclear)
    assert there.judged_in_neither == back.judged_in_neither
    to, fro = only(there), only(back)
    assert (to.delta, to.p) == (pytest.approx(-(fro.delta or 0)), pytest.approx(fro.p, abs=1e-9))
    assert (to.improved, to.regressed) == (fro.regressed, fro.improved)
    assert to.histogram == fro.histogram[::-1]
    assert sorted((c.x, c.y, c.cases) for c in to.scatter) == sorted(
        (c.y, c.x, c.cases) for c in fro.scatter
    )
    assert to.interval is not None
    assert fro.interval is not None
    assert to.interval == pytest.approx((-fro.interval[1], -fro.interval[0]), abs=0.01)


def test_only_cases_of_one_run_are_counted_apart(version: DatasetVersion) -> None:
    before = run_with(version, {"close": [1.0] * 28}, leaves_out=[0, 1])
    after = run_with(version, {"close": [0.0] * 29}, leaves_out=[29])
    found = compute_figures(before, after)
    assert (found.pairs, found.only_baseline, found.only_candidate) == (27, 1, 2)
    assert only(found).n == found.broke == 27


def test_a_judges_noise_band_is_that_of_so_many_cases(version: DatasetVersion) -> None:
    runs = [run_with(version, {"close": drawn(n)}) for n in (1, 2)]
    scorer = runs[0].scorers.get()
    band = {"n": 50, "deviation": 0.1, "band": 0.03, "mean_difference": 0.0}
    made = JudgeVariance.objects.create(run=runs[0], version=scorer.version, **band)
    assert only(compute_figures(*runs)).noise == pytest.approx(made.band_for(CASES))
    t = float(stats.t.ppf(0.975, 49))
    assert only(compute_figures(*runs)).noise == pytest.approx(t * 0.1 / CASES**0.5, rel=1e-4)
    assert "the judge alone moves it by up to" in only(compute_figures(*runs)).sentence


def test_figures_come_back_from_json_as_they_were(version: DatasetVersion) -> None:
    runs = [run_with(version, {"close": drawn(n), "tone": drawn(n + 3)}) for n in (1, 2)]
    kept = compare_runs(*runs)
    read = read_figures(Comparison.objects.get(pk=kept.pk))
    assert read == compute_figures(*runs)
    assert not any(isnan(x) for x in flat(asdict(read)))


def test_kept_figures_rest_on_no_rule_of_correction(version: DatasetVersion) -> None:
    """What is kept was counted and tested; whoever reads it corrects the claims as of now."""
    kept = compare_runs(*(run_with(version, {"close": drawn(n)}) for n in (1, 2))).figures
    told = [kept, *kept["scorers"], *(each["flips"] for each in kept["scorers"])]
    assert {each["p_corrected"] for each in told} == {None}
    assert (kept["slices_p_corrected"], kept["claims"]) == (None, 0)
    assert {each["q_corrected"] for each in kept["slices"]} == {1.0}
    assert {each["sentence"] for each in (kept, *kept["scorers"])} == {""}


def test_runs_shown_together_are_corrected_together(version: DatasetVersion) -> None:
    """And one by itself again as if it had never been shown with others."""
    before = run_with(version, {"close": drawn(1)})
    alone = [compute_figures(before, run_with(version, {"close": drawn(n, -0.1)})) for n in (2, 3)]
    both = correct_claims(alone)
    assert [each.claims for each in both] == [sum(each.claims for each in alone)] * 2
    pairs = [(only(one), only(other)) for one, other in zip(alone, both, strict=True)]
    assert all((one.p_corrected or 0) < (other.p_corrected or 0) for one, other in pairs)
    assert all((one.detectable or 0) < (other.detectable or 0) for one, other in pairs)
    assert [correct_claims([each])[0] for each in both] == alone


def flat(value: Any) -> list[float]:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple):
        return [number for each in inner for number in flat(each)]
    return [value] if isinstance(value, float) else []


class TestKeeping:
    @pytest.fixture
    def runs(self, version: DatasetVersion) -> tuple[Run, Run]:
        return tuple(run_with(version, {"close": drawn(n)}) for n in (1, 2))  # type: ignore[return-value]

    def test_a_comparison_is_worked_out_once(self, runs: tuple[Run, Run]) -> None:
        first = compare_runs(*runs)
        with CaptureQueriesContext(connection) as queries:
            again = compare_runs(*runs)
        assert (again.pk, again.computed_at, len(queries)) == (first.pk, first.computed_at, 1)

    @pytest.mark.parametrize("side", [0, 1])
    def test_it_is_worked_out_again_when_a_run_was(self, runs: tuple[Run, Run], side: int) -> None:
        first = compare_runs(*runs)
        run = runs[side]
        run.finished_at = first.computed_at
        run.save()
        assert comparison.stored_comparison(*runs) is None
        again = compare_runs(*runs)
        assert (again.pk, again.computed_at > first.computed_at) == (first.pk, True)

    def test_figures_of_an_older_shape_are_worked_out_again(self, runs: tuple[Run, Run]) -> None:
        Comparison.objects.filter(pk=compare_runs(*runs).pk).update(figures={"shape": 0})
        assert comparison.stored_comparison(*runs) is None
        assert Figures.read(compare_runs(*runs).figures).pairs == CASES

    def test_different_datasets_are_refused(
        self, runs: tuple[Run, Run], make_dataset: MakeDataset
    ) -> None:
        other = run_with(make_dataset([{}], name="Others"), {"close": [1.0]})
        with pytest.raises(NotComparableError, match="different datasets, Answers and Others") as e:
            compare_runs(runs[0], other)
        assert e.value.code == "different_datasets"

    @pytest.mark.parametrize("side", [0, 1])
    def test_an_unfinished_run_is_refused(self, runs: tuple[Run, Run], side: int) -> None:
        runs[side].state = RunState.RUNNING
        with pytest.raises(NotComparableError, match="is running: wait") as e:
            compare_runs(*runs)
        assert (e.value.code, e.value.run) == ("run_unfinished", runs[side])

    def test_the_same_outputs_scored_twice_are_named(self, runs: tuple[Run, Run]) -> None:
        runs[1].output_set = runs[0].output_set
        runs[1].save()
        assert "Both runs score the same outputs" in compute_figures(*runs).warnings[0]
