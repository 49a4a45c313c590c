"""Scorers against people's verdicts: scikit-learn, published examples and direct counts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from math import isclose, sqrt
from statistics import fmean

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics

from scoring.core.stats.calibration import (
    BestThreshold,
    KappaDifference,
    ScoredLabel,
    VerdictTable,
    best_threshold,
    fleiss_kappa,
    kappa_difference,
    krippendorff_alpha,
    verdict_table,
)

GRANTS = VerdictTable(20, 5, 10, 15)  # 50 grant proposals and two readers: kappa 0.4
pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
tables = st.builds(VerdictTable, *[st.integers(0, 30)] * 4)


def published_variance(table: VerdictTable) -> float:
    """Fleiss, Cohen and Everitt (1969), equation 13, for two labels."""
    n = table.n
    shares = np.array([[table[0], table[1]], [table[2], table[3]]]) / n
    rows, columns = shares.sum(1), shares.sum(0)
    observed, chance = np.trace(shares), rows @ columns
    kappa = (observed - chance) / (1 - chance)
    on = sum(shares[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    off = sum(shares[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    inner = on + (1 - kappa) ** 2 * off - (kappa - chance * (1 - kappa)) ** 2
    return float(inner / (n * (1 - chance) ** 2))


class TestTable:
    def test_a_known_example(self) -> None:
        assert (GRANTS.n, GRANTS.agreed) == (50, 35)
        assert GRANTS.agreement is not None
        assert GRANTS.agreement.value == 0.7
        assert GRANTS.rates == pytest.approx((0.8, 2 / 3, 8 / 11))
        assert GRANTS.kappa is not None
        assert GRANTS.kappa.value == pytest.approx(0.4)
        assert GRANTS.kappa.interval == pytest.approx((0.1511, 0.6489), abs=1e-4)

    def test_pass_is_the_positive_class(self) -> None:
        table = verdict_table([(True, True)] * 3 + [(True, False)] * 2 + [(False, True)])
        assert table == (3, 2, 1, 0)
        assert table.rates == pytest.approx((3 / 5, 3 / 4, 6 / 9))

    @given(pairs)
    def test_figures_are_those_of_scikit_learn(self, judged: list[tuple[bool, bool]]) -> None:
        scorer, people = zip(*judged, strict=True)
        table = verdict_table(judged)
        kappa, (precision, recall, f1) = table.kappa, table.rates
        if kappa is not None:
            assert isclose(kappa.value, metrics.cohen_kappa_score(scorer, people), abs_tol=1e-12)
        assert (precision or 0) == metrics.precision_score(people, scorer, zero_division=0)
        assert (recall or 0) == metrics.recall_score(people, scorer, zero_division=0)
        assert isclose(f1 or 0, metrics.f1_score(people, scorer, zero_division=0), abs_tol=1e-12)

    @given(tables)
    def test_the_interval_of_kappa_is_the_published_one(self, table: VerdictTable) -> None:
        kappa = table.kappa
        assume(kappa is not None)
        assert kappa is not None
        variance = published_variance(table)
        if kappa.interval is None:
            assert variance == pytest.approx(0, abs=1e-12)
            return
        low, high = kappa.interval
        reach = 1.959963984540054 * sqrt(max(variance, 0))
        assert low == pytest.approx(max(-1, kappa.value - reach), abs=1e-6)
        assert high == pytest.approx(min(1, kappa.value + reach), abs=1e-6)

    @pytest.mark.parametrize("table", [(0, 0, 0, 0), (7, 0, 0, 0), (0, 0, 0, 7)])
    def test_where_chance_alone_agrees_there_is_no_kappa(self, table: tuple[int, ...]) -> None:
        assert VerdictTable(*table).kappa is None

    @pytest.mark.parametrize(("table", "kappa"), [((3, 0, 0, 4), 1.0), ((0, 3, 3, 0), -1.0)])
    def test_complete_agreement_has_no_interval(self, table: tuple[int, ...], kappa: float) -> None:
        assert VerdictTable(*table).kappa == (kappa, None)

    def test_a_scorer_that_passes_everything_agrees_by_chance_alone(self) -> None:
        table = VerdictTable(8, 2, 0, 0)
        assert table.kappa == (0.0, None)
        assert table.rates == pytest.approx((0.8, 1.0, 16 / 18))

    def test_the_interval_holds_the_true_kappa_as_often_as_it_says(self) -> None:
        shares = (0.5, 0.1, 0.15, 0.25)
        agreed, chance = 0.75, 0.6 * 0.65 + 0.4 * 0.35
        truth, draws = (agreed - chance) / (1 - chance), np.random.default_rng(3)
        held = 0
        for counts in draws.multinomial(150, shares, size=1_000):
            kappa = VerdictTable(*map(int, counts)).kappa
            assert kappa is not None
            assert kappa.interval is not None
            held += kappa.interval[0] <= truth <= kappa.interval[1]
        assert 0.93 < held / 1_000 < 0.97


class TestDifference:
    def test_the_same_scorer_twice_does_not_differ(self) -> None:
        counts = Counter({(True, True, True): 5, (False, False, False): 6, (True, True, False): 2})
        assert kappa_difference(counts) == (0.0, 0.0)

    def test_an_undefined_kappa_gives_none(self) -> None:
        assert kappa_difference(Counter({(True, True, True): 5})) is None
        assert kappa_difference(Counter()) is None

    def test_its_reach_is_that_of_the_bootstrap(self) -> None:
        draws = np.random.default_rng(5)
        people = draws.random(400) < 0.6
        one, other = (people ^ (draws.random(400) < share) for share in (0.15, 0.25))
        columns = zip(one.tolist(), other.tolist(), people.tolist(), strict=True)
        found = kappa_difference(Counter(columns))
        assert found is not None
        resampled = []
        for _ in range(300):
            chosen = draws.integers(0, 400, 400)
            kappas = [
                metrics.cohen_kappa_score(scorer[chosen], people[chosen]) for scorer in (one, other)
            ]
            resampled.append(kappas[0] - kappas[1])
        kappas = [metrics.cohen_kappa_score(scorer, people) for scorer in (one, other)]
        assert found.value == pytest.approx(kappas[0] - kappas[1], abs=1e-12)
        assert found.reach == pytest.approx(1.96 * np.std(resampled), rel=0.15)

    @pytest.mark.parametrize(("value", "is_chance"), [(0.1, True), (-0.1, True), (0.11, False)])
    def test_what_its_reach_covers_is_chance(self, value: float, is_chance: bool) -> None:
        assert KappaDifference(value, 0.1).is_chance is is_chance


def labels_at(*scores: tuple[float, bool]) -> list[ScoredLabel]:
    return [ScoredLabel(*each) for each in scores]


scores = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0])
scored = st.builds(ScoredLabel, scores, st.booleans(), st.just(value=False))


class TestBestThreshold:
    def test_a_clean_cut_is_found(self) -> None:
        scores = [(0.1, False), (0.2, False), (0.3, False), (0.6, True), (0.7, True), (0.9, True)]
        best = best_threshold(labels_at(*scores * 5))
        assert best is not None
        assert (best.threshold, best.kappa, best.table) == (0.6, 1.0, (15, 0, 0, 15))
        assert best.as_good == (0.3, 0.6)

    @pytest.mark.parametrize(
        ("threshold", "is_included"), [(0.3, False), (0.31, True), (0.6, True), (0.61, False)]
    )
    def test_the_range_excludes_its_lower_end(self, threshold: float, is_included: bool) -> None:
        best = BestThreshold(0.6, 1.0, VerdictTable(3, 0, 0, 3), (0.3, 0.6))
        assert best.includes(threshold) is is_included

    @given(st.lists(scored, max_size=40))
    def test_it_is_the_first_of_the_highest_kappas(self, labels: list[ScoredLabel]) -> None:
        people = [label.passed_by_people for label in labels]
        kappas = {}
        if len(set(people)) == 2:
            for threshold in sorted({label.score for label in labels} - {0}):
                passed = [label.score >= threshold for label in labels]
                kappas[threshold] = metrics.cohen_kappa_score(passed, people)
        best, highest = best_threshold(labels), max(kappas.values(), default=0.0)
        if highest < 1e-9:
            assert best is None
            return
        assert best is not None
        first = min(value for value, kappa in kappas.items() if kappa >= highest - 1e-11)
        assert best.threshold == first
        assert best.kappa == pytest.approx(highest, abs=1e-12)
        assert best.includes(best.threshold)
        assert best.table.n == len(labels)

    def test_a_refused_output_fails_at_any_threshold(self) -> None:
        labels = [*labels_at((0.5, True), (0.4, False)), ScoredLabel(1.0, False, is_refused=True)]
        best = best_threshold(labels * 10)
        assert best is not None
        assert (best.threshold, best.table) == (0.5, (10, 0, 0, 20))

    def test_0_is_no_threshold_even_where_it_would_agree(self) -> None:
        """People pass what scores 0, and fail what the scorer refuses: no other score occurs."""
        labels = [ScoredLabel(0.0, True), ScoredLabel(0.0, False, is_refused=True)]
        assert best_threshold(labels * 20) is None
        best = best_threshold([*labels * 20, *labels_at((0.4, True), (0.2, False)) * 20])
        assert best is not None
        assert best.threshold == 0.4

    @pytest.mark.parametrize(
        "labels",
        [[], [(0.5, True), (0.7, True)], [(0, False), (0, True)], [(0.2, True), (0.8, False)]],
    )
    def test_a_scorer_that_knows_nothing_has_none(self, labels: list[tuple[float, bool]]) -> None:
        assert best_threshold(labels_at(*labels)) is None

    def test_the_range_holds_the_best_of_the_population(self) -> None:
        """Its width falls with the number of labels."""
        draw, widths = random.Random(4), []
        for n in (100, 400, 1_600):
            found = [best_threshold(_two_normals(draw, n)) for _ in range(25)]
            bests = [best for best in found if best is not None]
            assert sum(best.includes(0.5) for best in bests) >= 22
            widths.append(fmean(best.as_good[1] - best.as_good[0] for best in bests))
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < 0.12
        assert widths[0] > 0.25

    def test_its_ends_are_those_of_thresholds_taken_for_two_scorers(self) -> None:
        draw = random.Random(9)
        labels = _two_normals(draw, 150)
        best = best_threshold(labels)
        assert best is not None
        as_good = []
        thresholds = sorted({label.score for label in labels} - {0.0})
        for threshold in thresholds:
            counts = Counter(
                (label.score >= best.threshold, label.score >= threshold, label.passed_by_people)
                for label in labels
            )
            difference = kappa_difference(counts)
            assert difference is not None
            as_good += [threshold] * difference.is_chance
        assert thresholds[0] < as_good[0] < best.threshold < as_good[-1] < thresholds[-1]
        below = thresholds[thresholds.index(as_good[0]) - 1]
        assert best.as_good == (below, as_good[-1])


def _two_normals(draw: random.Random, n: int) -> list[ScoredLabel]:
    """Scores around 0.6 of what people pass and around 0.4 of what they fail: 0.5 parts them."""
    people = [draw.random() < 0.5 for _ in range(n)]
    scored = [round(draw.gauss(0.6 if passed else 0.4, 0.15), 3) for passed in people]
    return [
        ScoredLabel(min(1, max(0, score)), passed)
        for score, passed in zip(scored, people, strict=True)
    ]


class TestFleiss:
    def test_the_published_example_of_two_labels(self) -> None:
        """Equal numbers of verdicts: the formula of 1971, written out."""
        counts = [(3, 0), (2, 1), (0, 3), (1, 2), (3, 0), (0, 3)]
        share = sum(passed for passed, _ in counts) / 18
        chance = share**2 + (1 - share) ** 2
        agreed = (sum(passed**2 + failed**2 for passed, failed in counts) - 18) / (6 * 3 * 2)
        assert fleiss_kappa(counts) == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)

    def test_outputs_with_one_verdict_count_for_nothing(self) -> None:
        counts = [(2, 0), (0, 2), (1, 1)]
        assert fleiss_kappa([*counts, (1, 0), (0, 1), (0, 0)]) == fleiss_kappa(counts)

    def test_different_numbers_of_verdicts_weigh_the_same_by_output(self) -> None:
        assert fleiss_kappa([(4, 0), (0, 2), (2, 1)]) == pytest.approx(
            ((1 + 1 + 1 / 3) / 3 - (36 + 9) / 81) / (1 - (36 + 9) / 81)
        )

    def test_complete_agreement_is_one(self) -> None:
        assert fleiss_kappa([(3, 0), (0, 4)]) == 1.0

    @pytest.mark.parametrize("counts", [[], [(1, 0)], [(3, 0), (2, 0)], [(0, 2)]])
    def test_none_where_all_say_the_same(self, counts: list[tuple[int, int]]) -> None:
        assert fleiss_kappa(counts) is None

    def test_two_people_who_pass_as_often_have_the_kappa_of_cohen(self) -> None:
        table = VerdictTable(6, 2, 2, 5)
        counts = [(2, 0)] * 6 + [(1, 1)] * 4 + [(0, 2)] * 5
        assert table.kappa is not None
        assert fleiss_kappa(counts) == pytest.approx(table.kappa.value, abs=1e-12)


class TestKrippendorffAlpha:
    def test_the_example_of_the_paper(self) -> None:
        """Krippendorff (2011), section B: two observers, binary data."""
        meg, owen = "0100000010", "1110010000"
        counts = [((a + b).count("1"), (a + b).count("0")) for a, b in zip(meg, owen, strict=True)]
        assert krippendorff_alpha(counts) == pytest.approx(0.095, abs=5e-4)

    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
    def test_pairs_within_outputs_beside_pairs_of_all(self, counts: list[tuple[int, int]]) -> None:
        """By the definition: every pair of verdicts, weighed by the verdicts of its output."""
        rated = [each for each in counts if sum(each) > 1]
        values = [value for p, f in rated for value in [1] * p + [0] * f]
        if len(set(values)) < 2:
            assert krippendorff_alpha(counts) is None
            return
        within = 0.0
        for p, f in rated:
            own = [1] * p + [0] * f
            pairs = [one != other for one, other in permutations(own, 2)]
            within += sum(pairs) / (len(own) - 1)
        across = sum(one != other for one, other in permutations(values, 2))
        n = len(values)
        wanted = 1 - (within / n) / (across / (n * (n - 1)))
        assert krippendorff_alpha(counts) == pytest.approx(wanted, abs=1e-9)

    def test_outputs_with_one_verdict_count_for_nothing(self) -> None:
        counts = [(2, 0), (0, 2), (1, 1)]
        assert krippendorff_alpha([*counts, (1, 0), (0, 0)]) == krippendorff_alpha(counts)
