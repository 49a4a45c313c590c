"""Bradley-Terry strengths beside a logistic regression, and what cannot be ranked."""

from __future__ import annotations

import random
from itertools import permutations
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from scoring.core.stats.bradley_terry import MIN_DECIDED, Strength, Unranked, rank

WINS = {
    ("a", "b"): 30,
    ("b", "a"): 12,
    ("b", "c"): 25,
    ("c", "b"): 20,
    ("a", "c"): 31,
    ("c", "a"): 9,
    ("d", "a"): 6,
    ("a", "d"): 24,
}


def of(ranked: list[Strength], name: str) -> Strength:
    return next(each for each in ranked if each.name == name)


def by_regression(names: list[str], wins: dict[tuple[str, str], int]) -> np.ndarray:
    """The strengths, of mean zero, as coefficients of a regression without a penalty."""
    rows, labels, weights = [], [], []
    for (winner, loser), number in wins.items():
        row = np.zeros(len(names))
        row[names.index(winner)], row[names.index(loser)] = 1, -1
        rows += [row, -row]
        labels += [1, 0]
        weights += [number, number]
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000)
    model.fit(np.array(rows), labels, sample_weight=weights)
    return np.asarray(model.coef_[0] - model.coef_[0].mean())


def test_strengths_are_those_of_a_logistic_regression() -> None:
    ranked = rank("abcd", WINS)
    names = ["a", "b", "c", "d"]
    strengths = by_regression(names, WINS)
    wanted = {name: 1 / (1 + exp(-s)) for name, s in zip(names, strengths, strict=True)}
    for name in names:
        share = of(ranked, name).share
        assert share is not None
        assert share.value == pytest.approx(wanted[name], abs=1e-6)
    assert [each.name for each in ranked] == sorted(names, key=lambda name: -wanted[name])
    assert (of(ranked, "a").wins, of(ranked, "a").losses) == (85, 27)


def test_two_candidates_have_the_share_of_wins_between_them() -> None:
    """Half the distance of their log-odds each."""
    first, second = rank("ab", {("a", "b"): 30, ("b", "a"): 10})
    assert first.share is not None
    assert second.share is not None
    assert first.share.value == pytest.approx(1 / (1 + (10 / 30) ** 0.5))
    assert first.share.value + second.share.value == pytest.approx(1)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    truth = {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}
    generator, held, count = random.Random(7), 0, 0
    for _ in range(300):
        wins: dict[tuple[str, str], int] = {}
        for one, other in permutations(truth, 2):
            if one < other:
                chance = 1 / (1 + exp(truth[other] - truth[one]))
                won = sum(generator.random() < chance for _ in range(40))
                wins |= {(one, other): won, (other, one): 40 - won}
        for each in rank(truth, wins):
            assert each.share is not None
            assert each.share.interval is not None
            low, high = each.share.interval
            held += low <= 1 / (1 + exp(-truth[each.name])) <= high
            count += 1
    assert 0.93 <= held / count <= 0.97


def test_nothing_is_said_of_few_pairs() -> None:
    ranked = rank("abc", {("a", "b"): 20, ("b", "a"): 20, ("a", "c"): MIN_DECIDED - 1})
    assert of(ranked, "c").unranked == Unranked.TOO_FEW
    assert of(ranked, "c").share is None
    assert [each.name for each in ranked[:2]] == ["a", "b"]


def test_who_won_or_lost_every_pair_has_no_strength() -> None:
    wins = {("a", "b"): 20, ("b", "a"): 20, ("a", "c"): 20, ("d", "a"): 12}
    ranked = rank("abcd", wins)
    assert of(ranked, "c").unranked == Unranked.ALL_LOST
    assert of(ranked, "d").unranked == Unranked.ALL_WON
    alone = rank("ab", {("a", "b"): 20})
    assert [each.unranked for each in alone] == [Unranked.ALL_WON, Unranked.ALL_LOST]


def test_who_won_all_over_one_and_lost_all_to_another_has_no_strength() -> None:
    ranked = rank("abc", {("a", "b"): 20, ("b", "c"): 20})
    assert [each.unranked for each in ranked] == [
        *(Unranked.ALL_WON, Unranked.ONE_SIDED, Unranked.ALL_LOST)
    ]


def test_candidates_that_never_met_are_not_ranked_together() -> None:
    wins = {("a", "b"): 20, ("b", "a"): 20, ("b", "c"): 9, ("c", "b"): 4, ("d", "e"): 10}
    ranked = rank("abcde", wins | {("e", "d"): 10})
    assert {each.name for each in ranked if each.share} == {"a", "b", "c"}
    assert {of(ranked, name).unranked for name in "de"} == {Unranked.NEVER_MET}
    assert rank([], {}) == []


@given(st.dictionaries(st.sampled_from(list(permutations("abcde", 2))), st.integers(0, 500)))
def test_any_counts_have_finite_strengths_or_a_reason(wins: dict[tuple[str, str], int]) -> None:
    ranked = rank("abcde", wins)
    assert sorted(each.name for each in ranked) == list("abcde")
    for each in ranked:
        assert (each.share is None) != (each.unranked is None)
        if each.share and each.share.interval:
            low, high = each.share.interval
            assert 0 <= low <= each.share.value <= high <= 1
