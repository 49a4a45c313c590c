"""Agreement, kappa and the pull of the place, against direct counts and published examples."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from scoring.core.stats.agreement import measure_agreement, measure_position_bias, swap_labels

#: Two raters of 50 grant proposals: 20 times both yes, 15 times both no; kappa 0.4.
GRANTS = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15


def test_a_known_example() -> None:
    found = measure_agreement(GRANTS)
    assert (found.n, found.agreed, list(found.labels)) == (50, 35, ["n", "y"])
    assert found.kappa == pytest.approx(0.4)
    assert found.rate is not None
    assert found.rate.value == 0.7


EDGES = [
    ([], None),
    ([("a", "a")], None),  # chance alone agrees always
    ([("a", "b")], 0.0),
    ([("a", "a"), ("b", "b")], 1.0),
    ([("a", "b"), ("b", "a")], -1.0),
]


@pytest.mark.parametrize(("pairs", "kappa"), EDGES)
def test_edges_of_kappa(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert measure_agreement(pairs).kappa == kappa


labels = st.sampled_from("abc")


@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=60))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    kappa = measure_agreement(pairs).kappa
    if kappa is not None:
        ones, others = zip(*pairs, strict=True)
        assert isclose(kappa, metrics.cohen_kappa_score(ones, others), abs_tol=1e-12)


AB = {"a": "b", "b": "a"}
TIE = {**AB, "tie": "tie"}


def test_a_judge_that_follows_the_place_is_found_out() -> None:
    as_is = {"1": "a", "2": "a", "3": "b", "4": "b", "only here": "a"}
    swapped = {"1": "a", "2": "b", "3": "b", "4": "a", "only there": "b"}
    found = measure_position_bias(as_is, swapped, AB)
    assert (found.same_place, found.followed_content, found.n) == ({"a": 1, "b": 1}, 2, 4)
    assert found.bound_to_place is not None
    assert found.bound_to_place.value == 0.5


#: (first order, other order) → (bound to the place, followed the content, neither)
TIES = [
    (("tie", "tie"), (0, 1, 0)),
    (("tie", "a"), (0, 0, 1)),
    (("a", "tie"), (0, 0, 1)),
    (("a", "a"), (1, 0, 0)),
    (("a", "b"), (0, 1, 0)),
]


@pytest.mark.parametrize(("choices", "counted"), TIES)
def test_a_tie_is_no_place(choices: tuple[str, str], counted: tuple[int, int, int]) -> None:
    one, other = choices
    found = measure_position_bias({1: one}, {1: other}, TIE)
    assert (found.decided_by_position, found.followed_content, found.neither) == counted
    assert found.n == 1


def test_nothing_in_common_says_nothing() -> None:
    assert measure_position_bias({"1": "a"}, {"2": "a"}, AB).bound_to_place is None


TURNED: list[tuple[dict[str, float], dict[str, str]]] = [
    ({"a": 1, "b": 0}, AB),
    ({"a": 1, "b": 1}, AB),
    ({"a": 1, "tie": 0.5, "b": 0}, TIE),
    ({"a": 0.9, "tie": 0.5, "b": 0.1}, TIE),  # 1 - 0.9 is not quite 0.1
    ({"a": 1, "b": 0, "c": 0}, {}),
    ({"a": 1, "b": 0, "neither": 0.2}, {}),
    ({"a": 1}, {}),
    ({}, {}),
]


@pytest.mark.parametrize(("scores", "turned"), TURNED)
def test_labels_are_turned_round_where_that_is_clear(
    scores: dict[str, float], turned: dict[str, str]
) -> None:
    assert swap_labels(scores) == turned
