"""The claims of a page as one family: against Holm and Simes by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.core.stats.corrections import PairTests, ScorerTests, correct_family, simes_p

ps = st.floats(0, 1)
scorers = st.builds(ScorerTests, ps | st.none(), ps | st.none(), st.just(value=False))
pages = st.lists(
    st.builds(
        PairTests,
        st.lists(scorers, max_size=3),
        ps | st.none(),
        st.lists(ps, max_size=5),
        st.just(value=False),
    ),
    max_size=3,
)


def test_a_worked_example() -> None:
    """Two scorers, cases and slices: six claims. The smallest p counts six times, then five …"""
    page = PairTests(
        [ScorerTests(0.001, 0.02), ScorerTests(0.5, 0.9)], 0.03, [0.004, 0.006, 0.3, 0.8]
    )
    family = correct_family([page])
    (pair,) = family.pairs
    assert family.size == 6
    assert [tuple(each) for each in pair.scorers] == [
        (pytest.approx(0.006), pytest.approx(0.08)),
        (pytest.approx(1.0), pytest.approx(1.0)),
    ]
    assert pair.cases == pytest.approx(0.09)
    assert pair.any_slice == pytest.approx(5 * 0.012)  # 0.006 of four is the smallest q: 0.012
    assert pair.slices == pytest.approx([0.06, 0.06, 1.0, 1.0])


def test_what_is_tested_twice_counts_once() -> None:
    """A scorer of 0 and 1 has one claim, and by itself it decides the cases' verdicts."""
    of = ScorerTests(0.03, 0.03, is_one_claim=True)
    alone = correct_family([PairTests([of], 0.03, [], has_one_scorer=True)])
    assert (alone.size, alone.pairs[0].cases) == (1, 0.03)
    assert tuple(alone.pairs[0].scorers[0]) == (0.03, 0.03)
    graded = correct_family([PairTests([ScorerTests(0.03, 0.03)], 0.03, [], has_one_scorer=True)])
    assert (graded.size, graded.pairs[0].cases) == (2, 0.06)
    two = correct_family([PairTests([of, of], 0.03, [])])
    assert (two.size, two.pairs[0].cases) == (3, pytest.approx(0.09))


def test_a_slice_is_named_only_if_some_slice_changed() -> None:
    """Its own correction would name it, that of the family does not."""
    slices = [0.012, 0.9, 0.9]
    assert min(stats.false_discovery_control(slices)) <= 0.05
    (pair,) = correct_family([PairTests([ScorerTests(0.4, 0.5)], 0.6, slices)]).pairs
    assert min(pair.slices) > 0.05


def test_all_candidates_of_a_page_are_one_family() -> None:
    one = PairTests([ScorerTests(0.02, 0.9)], None, [])
    assert correct_family([one]).pairs[0].scorers[0].mean == pytest.approx(0.04)
    assert correct_family([one, one]).pairs[1].scorers[0].mean == pytest.approx(0.08)


@given(pages)
def test_a_page_claims_what_holm_rejects(page: list[PairTests]) -> None:
    """By the definition, over every claim of the page."""
    claims = [p for pair in page for each in pair.scorers for p in (each.mean, each.flips)]
    claims += [pair.cases for pair in page]
    claims += [simes_p(pair.slices) for pair in page if pair.slices]
    tested = sorted(p for p in claims if p is not None)
    rejected = 0
    while rejected < len(tested) and tested[rejected] * (len(tested) - rejected) <= 0.05:
        rejected += 1
    family = correct_family(page)
    corrected = [p for pair in family.pairs for each in pair.scorers for p in each]
    corrected += [pair.cases for pair in family.pairs]
    corrected += [pair.any_slice for pair in family.pairs]
    assert family.size == len(tested)
    assert sum(p is not None and p <= 0.05 for p in corrected) == rejected
    for pair in family.pairs:
        is_any = pair.any_slice is not None and pair.any_slice <= 0.05
        assert is_any == any(q <= 0.05 for q in pair.slices)


@given(st.lists(ps, min_size=1, max_size=8))
def test_simes_is_the_smallest_false_discovery(found: list[float]) -> None:
    assert simes_p(found) == pytest.approx(min(stats.false_discovery_control(found)))
