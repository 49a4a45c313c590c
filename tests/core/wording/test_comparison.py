"""Comparisons in words: what is said in each situation, and what never is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.stats.paired_tests import Flips
from scoring.core.wording.comparison import (
    Changes,
    ScorerFinding,
    UnjudgedCases,
    p_text,
    scorer_sentence,
    size_text,
    whole_sentence,
)

POWER = "is detectable with 80 % power"


PLAIN = ScorerFinding("close enough", 400, None, None, 0.003, detectable=0.03)


def finding(
    mean: float | None,
    p: float | None = 0.003,
    *,
    n: int = 400,
    moved: int = 9,
    flips: tuple[int, int] = (0, 0),
    **fields: Any,
) -> ScorerFinding:
    return PLAIN._replace(mean=mean, p=p, n=n, regressed=moved, flips=Flips(n, *flips), **fields)


SCORERS = [
    (
        finding(-0.02, interval=(-0.04, -0.01), claims=3),
        "close enough fell by 0.02 [0.01, 0.04], statistically significant "
        "(p = 0.003 after correction).",
    ),
    (
        finding(0.0004, 0.0001, interval=(-0.00002, 0.0009)),
        "close enough rose by 0.0004 [\N{MINUS SIGN}0.00002, 0.0009], "
        "statistically significant (p < 0.001).",
    ),
    (
        finding(-0.002, 0.4, interval=(-0.01, 0.006)),
        "close enough shows no significant difference: it fell by 0.002 "
        "[\N{MINUS SIGN}0.006, 0.01] (p = 0.400); "
        f"a change of 0.03 {POWER}.",
    ),
    (
        finding(0.0, 1.0, interval=(-0.1, 0.1), detectable=None),
        "close enough shows no significant difference: it kept its mean "
        "[\N{MINUS SIGN}0.1, 0.1] (p = 1.000).",
    ),
    (
        finding(-0.02, 0.12, interval=(-0.04, -0.001), claims=3),
        "close enough fell by 0.02 [0.001, 0.04], not statistically significant "
        "(p = 0.120 after correction for 3 claims).",
    ),
    (
        finding(0.02, 0.06, interval=(0.0001, 0.04)),
        "close enough rose by 0.02 [0.0001, 0.04], not statistically significant (p = 0.060).",
    ),
    (finding(None, None, n=0), "No case has a score of close enough in both runs."),
    (finding(0.0, 1.0, moved=0), "close enough gives 400 cases the same score in both runs."),
    (finding(0.0, 1.0, moved=0, n=1), "close enough gives 1 case the same score in both runs."),
    (finding(-1.0, 1.0, n=1), "close enough fell by 1 on the only case, too few to tell."),
    (
        finding(-0.02, noise=0.05),
        "close enough fell by 0.02, statistically significant (p = 0.003); "
        "but the judge alone moves it by up to 0.05.",
    ),
    (
        finding(-0.02, noise=0.004),
        "close enough fell by 0.02, statistically significant (p = 0.003); "
        "by itself the judge moves it by up to 0.004 only.",
    ),
    (
        finding(-0.02, 0.2, noise=0.004, detectable=None),
        "close enough shows no significant difference: it fell by 0.02 (p = 0.200); "
        "the judge alone moves it by up to 0.004.",
    ),
]


@pytest.mark.parametrize(("found", "said"), SCORERS)
def test_a_scorer_is_told_in_one_sentence(found: ScorerFinding, said: str) -> None:
    assert scorer_sentence(found) == said


FLIPS = [
    (
        finding(0.001, 0.62, claims=3, flips=(30, 8), flips_p=0.003),
        "close enough shows no significant difference in its mean: it rose by 0.001 "
        f"(p = 0.620 after correction); a change of 0.03 {POWER}; but the change of its verdicts "
        "is statistically significant: 30 broke, 8 were fixed (p = 0.003 after correction).",
    ),
    (
        finding(-0.02, 0.06, interval=(-0.04, -0.001), flips=(30, 8), flips_p=0.003),
        "close enough fell by 0.02 [0.001, 0.04], not statistically significant (p = 0.060); but "
        "the change of its verdicts is statistically significant: 30 broke, 8 were fixed "
        "(p = 0.003).",
    ),
    (
        finding(-0.02, flips=(5, 1), flips_p=0.2),
        "close enough fell by 0.02, statistically significant (p = 0.003); "
        "its verdicts show no significant difference: 5 broke, 1 was fixed (p = 0.200).",
    ),
    (
        finding(-0.02, flips_p=1.0),
        "close enough fell by 0.02, statistically significant (p = 0.003); no verdict changed.",
    ),
    (
        finding(0.0, 1.0, moved=0, flips=(30, 0), flips_p=0.003),
        "close enough gives 400 cases the same score in both runs, but the change of its verdicts "
        "is statistically significant: 30 broke, 0 were fixed (p = 0.003).",
    ),
    (
        finding(0.0, 1.0, moved=0, flips=(1, 0), flips_p=1.0),
        "close enough gives 400 cases the same score in both runs; "
        "of its verdicts 1 broke, 0 were fixed.",
    ),
    (
        finding(-0.02, flips=(30, 8), flips_p=0.003),
        "close enough fell by 0.02, statistically significant (p = 0.003).",
    ),
    (
        finding(0.0, 1.0, moved=0, flips=(3, 2), flips_p=0.003, has_trials=True),
        "close enough gives 400 cases the same score in both runs, but the change of its share of "
        "trials that pass is statistically significant: 3 broke, 2 were fixed (p = 0.003).",
    ),
    (
        finding(-0.02, flips=(5, 1), flips_p=0.2, has_trials=True),
        "close enough fell by 0.02, statistically significant (p = 0.003); "
        "its trials that pass show no significant difference: 5 broke, 1 was fixed (p = 0.200).",
    ),
]


@pytest.mark.parametrize(("found", "said"), FLIPS)
def test_where_mean_and_verdicts_disagree_both_are_told(found: ScorerFinding, said: str) -> None:
    assert scorer_sentence(found) == said


FELL, ROSE = finding(-0.1, name="json"), finding(0.1, name="tone")
SAME, NOISY = finding(0.1, 0.2), finding(0.01, noise=0.1)
FLIPPED = finding(0.001, 0.6, name="style", flips=(30, 8), flips_p=0.003)
WHOLES = [
    (
        (Changes(Flips(400, 12, 3), 0.035), [FELL]),
        "12 of 400 cases broke, 3 were fixed (statistically significant, p = 0.035); "
        "the drop in json is statistically significant.",
    ),
    (
        (Changes(Flips(4000, 1, 1), 1.0, claims=3), [SAME, NOISY]),
        "1 of 4,000 cases broke, 1 was fixed (not statistically significant, "
        "p = 1.000 after correction); no scorer's mean changed significantly.",
    ),
    (
        (Changes(Flips(1, 0, 0), 1.0), [FELL, ROSE]),
        "None of 1 case broke or was fixed; "
        "the drop in json and the rise in tone are statistically significant.",
    ),
    (
        (Changes(Flips(400, 30, 8), 0.003), [FLIPPED]),
        "30 of 400 cases broke, 8 were fixed (statistically significant, p = 0.003); "
        "no scorer's mean changed significantly.",
    ),
    (
        (Changes(Flips(400, 31, 20), 0.2, slices=2), [FELL, FLIPPED]),
        "31 of 400 cases broke, 20 were fixed (not statistically significant, p = 0.200); "
        "the drop in json and the change of style's verdicts are statistically significant; "
        "2 slices by tag changed significantly.",
    ),
    ((Changes(Flips(0, 0, 0), None), []), "The runs have no case in common."),
    (
        (Changes(Flips(60, 10, 8), 0.01, has_trials=True), []),
        "10 of 60 cases broke, 8 were fixed; the share of a case's trials that pass changed "
        "significantly (p = 0.010).",
    ),
    (
        (Changes(Flips(60, 10, 8), 0.3, claims=2, has_trials=True), []),
        "10 of 60 cases broke, 8 were fixed; the share of a case's trials that pass did not change "
        "significantly (p = 0.300 after correction).",
    ),
    (
        (Changes(Flips(60, 0, 0), 0.01, has_trials=True), []),
        "None of 60 cases broke or was fixed; the share of a case's trials that pass changed "
        "significantly (p = 0.010).",
    ),
    (
        (Changes(Flips(60, 0, 0), 0.3, has_trials=True), []),
        "None of 60 cases broke or was fixed.",
    ),
    (
        (
            Changes(Flips(60, 3, 3), 0.3, has_trials=True),
            [FLIPPED._replace(has_trials=True), FELL],
        ),
        "3 of 60 cases broke, 3 were fixed; the share of a case's trials that pass did not change "
        "significantly (p = 0.300); the drop in json and the change of style's share of trials "
        "that pass are statistically significant.",
    ),
]


@pytest.mark.parametrize(("given_", "said"), WHOLES)
def test_the_whole_is_told_in_one_sentence(
    given_: tuple[Changes, list[ScorerFinding]], said: str
) -> None:
    assert whole_sentence(*given_) == said


UNJUDGED = [
    (UnjudgedCases(), ""),
    (UnjudgedCases(passed_before=11), "11 passed before but could not be judged now"),
    (UnjudgedCases(failed_before=1), "1 failed before but could not be judged now"),
    (
        UnjudgedCases(passed_before=1_100, failed_before=2),
        "1,100 passed before and 2 failed before but could not be judged now",
    ),
    (UnjudgedCases(judged_now=3), "3 could not be judged before"),
    (UnjudgedCases(neither=4), "4 could not be judged in either run"),
    (
        UnjudgedCases(1, 0, 3, 4),
        "1 passed before but could not be judged now, 3 could not be judged before, "
        "4 could not be judged in either run",
    ),
]


@pytest.mark.parametrize(("unjudged", "said"), UNJUDGED)
@pytest.mark.parametrize(
    ("flipped", "told"),
    [
        ((0, 0), "None of 2,000 cases broke or was fixed"),
        ((2, 1), "2 of 2,000 cases broke, 1 was fixed (not statistically significant, p = 0.500)"),
    ],
)
def test_cases_that_could_not_be_judged_are_told_apart_from_broken_ones(
    flipped: tuple[int, int], told: str, unjudged: UnjudgedCases, said: str
) -> None:
    changes = Changes(Flips(2_000, *flipped), 0.5)
    assert whole_sentence(changes, [], unjudged) == "; ".join(filter(None, [told, said])) + "."


def test_three_movers_are_listed() -> None:
    changes = Changes(Flips(9, 1, 0), 1.0)
    told = whole_sentence(changes, [FELL, ROSE, finding(-0.2, name="style")])
    assert "the drop in json, the rise in tone and the drop in style are statistically" in told


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (1.0, "p = 1.000"),
        (0.9999, "p = 0.9999"),
        (0.0504, "p = 0.0504"),
        (0.0496, "p = 0.050"),
        (0.0312, "p = 0.031"),
        (0.001, "p = 0.001"),
        (0.00099, "p < 0.001"),
    ],
)
def test_ps_are_short(p: float, said: str) -> None:
    assert p_text(p) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (-0.25, "0.25"),
        (1.0, "1"),
        (0.1, "0.1"),
        (0.0005, "0.0005"),
        (-0.0000203, "0.00002"),
        (0.0000097, "0.00001"),
        (0.12345, "0.123"),
        (0.9996, "0.9996"),
    ],
)
def test_sizes_are_short_and_never_vanish(value: float, said: str) -> None:
    assert size_text(value) == said


@given(
    st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5) | st.none(),
    st.integers(1, 5),
)  # fmt: skip
def test_no_sentence_denies_what_a_test_found(
    mean: float, p: float, flips_p: float, noise: float | None, claims: int
) -> None:
    found = finding(
        mean, p, claims=claims, noise=noise, interval=(mean - 0.1, mean + 0.1),
        flips=(30, 8), flips_p=flips_p,
    )  # fmt: skip
    told = scorer_sentence(found)
    says_significant = "statistically significant" in told.replace("not statistically", "")
    assert says_significant == (min(p, flips_p) <= 0.05)
    assert ("shows no significant difference:" in told) == (
        min(p, flips_p) > 0.05 and abs(mean) <= 0.1
    )
    assert ("verdicts is statistically" in told) == (flips_p <= 0.05 < p)
