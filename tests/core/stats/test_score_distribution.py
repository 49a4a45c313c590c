from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.stats.score_distribution import (
    EDGES,
    STEPS,
    ScoreDistribution,
    count_by_step,
    find_step,
)

UNIT = st.floats(0, 1) | st.integers(0, STEPS).map(lambda step: step / STEPS)


def test_a_score_passes_at_its_own_threshold() -> None:
    scores = ScoreDistribution.of_counts(count_by_step({0.0: 2, 0.25: 1, 0.75: 4}), forced=1)
    passed = {0: 6, 0.1: 5, 0.25: 5, 0.251: 4, 0.75: 4, 0.751: 0, 1: 0}
    assert {t: scores.count_passed(t) for t in passed} == passed
    assert scores.pass_rate(0.251) == 4 / 7


def test_without_scores_there_is_no_pass_rate_and_no_curve() -> None:
    scores = ScoreDistribution.of_counts(count_by_step({}))
    assert (scores.scored, scores.pass_rate(0.5), scores.curve()) == (0, None, [])


def test_a_threshold_between_edges_needs_its_own_count() -> None:
    counts = count_by_step({0.5002: 3, 0.5004: 2})
    with pytest.raises(KeyError):
        ScoreDistribution.of_counts(counts).count_passed(0.5003)
    assert ScoreDistribution.of_counts(counts, 0, {0.5003: 2}).count_passed(0.5003) == 2


def test_the_curve_has_a_point_where_the_rate_changes() -> None:
    scores = ScoreDistribution.of_counts(count_by_step({0.25: 1, 0.75: 3}))
    assert scores.curve() == [(0.25, 1.0), (0.75, 0.75), (1.0, 0.0)]
    assert scores.curve(every=100) == [(0.2, 1.0), (0.7, 0.75), (1.0, 0.0)]


def test_the_curve_of_one_score_ends_at_1() -> None:
    assert ScoreDistribution.of_counts(count_by_step({1.0: 5})).curve() == [(1.0, 1.0)]


@given(st.lists(UNIT, min_size=1, max_size=40), UNIT)
def test_counts_are_those_of_comparing_each_score(scores: list[float], threshold: float) -> None:
    above = [score for score in scores if score >= threshold]
    edge = EDGES[min(find_step(threshold) + 1, STEPS)]
    partial = {threshold: sum(score < edge for score in above)} if threshold < 1 else {}
    found = ScoreDistribution.of_counts(count_by_step(Counter(scores)), 0, partial)
    assert found.count_passed(threshold) == len(above)
    for edge in EDGES[::50]:
        assert found.count_passed(edge) == sum(score >= edge for score in scores)


def test_bins_count_every_score_once() -> None:
    scores = {0.0: 3, 0.019: 1, 0.02: 2, 0.5: 4, 0.999: 1, 1.0: 5}
    bins = ScoreDistribution.of_counts(count_by_step(scores)).bins(50)
    assert (len(bins), sum(bins)) == (50, 16)
    assert (bins[0], bins[1], bins[25], bins[49]) == (4, 2, 4, 6)
