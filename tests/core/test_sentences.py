"""Comparisons in words: what is said in each situation, and what never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.paired import Difference
from scoring.core.sentences import (
    Finding,
    Unjudged,
    p_text,
    scorer_sentence,
    size_text,
    whole_sentence,
)


def finding(
    mean: float | None,
    p: float | None = 0.003,
    *,
    n: int = 400,
    interval: tuple[float, float] | None = None,
    detectable: float | None = 0.03,
    tests: int = 1,
    noise: float | None = None,
    moved: int = 9,
    name: str = "close enough",
) -> Finding:
    difference = Difference(n, mean, interval, p, detectable, "resampled")
    return Finding(name, difference, p, tests, improved=0, regressed=moved, noise=noise)


SCORERS = [
    (
        finding(-0.02, interval=(-0.04, -0.01), tests=3),
        "close enough fell by 0.02 [0.01, 0.04], larger than chance explains "
        "(p = 0.003 after correction).",
    ),
    (
        finding(0.0004, 0.0001, interval=(-0.0001, 0.0009)),
        "close enough rose by 0.0004 [\N{MINUS SIGN}0.0001, 0.0009], "
        "larger than chance explains (p < 0.001).",
    ),
    (
        finding(-0.002, 0.4, interval=(-0.01, 0.006)),
        "close enough shows no difference: it fell by 0.002 [\N{MINUS SIGN}0.006, 0.01] "
        "(p = 0.400); "
        "a change of 0.03 would have been seen four times in five.",
    ),
    (
        finding(0.0, 1.0, interval=(-0.1, 0.1), detectable=None),
        "close enough shows no difference: it kept its mean [\N{MINUS SIGN}0.1, 0.1] (p = 1.000).",
    ),
    (
        finding(-0.02, 0.12, interval=(-0.04, -0.001), tests=3),
        "close enough fell by 0.02 [0.001, 0.04], no more than chance explains "
        "when 3 scorers are looked at (p = 0.120 after correction).",
    ),
    (
        finding(0.02, 0.06, interval=(0.0001, 0.04)),
        "close enough rose by 0.02 [0.0001, 0.04], no more than chance explains (p = 0.060).",
    ),
    (finding(None, None, n=0), "No case has a score of close enough in both runs."),
    (finding(0.0, 1.0, moved=0), "close enough gives 400 cases the same score in both runs."),
    (finding(0.0, 1.0, moved=0, n=1), "close enough gives 1 case the same score in both runs."),
    (finding(-1.0, 1.0, n=1), "close enough fell by 1 on the only case, too few to tell."),
    (
        finding(-0.02, noise=0.05),
        "close enough fell by 0.02, larger than chance explains (p = 0.003); "
        "but the judge alone moves it by up to 0.05.",
    ),
    (
        finding(-0.02, noise=0.004),
        "close enough fell by 0.02, larger than chance explains (p = 0.003); "
        "by itself the judge moves it by up to 0.004 only.",
    ),
    (
        finding(-0.02, 0.2, noise=0.004, detectable=None),
        "close enough shows no difference: it fell by 0.02 (p = 0.200); "
        "the judge alone moves it by up to 0.004.",
    ),
]


@pytest.mark.parametrize(("found", "said"), SCORERS)
def test_a_scorer_is_told_in_one_sentence(found: Finding, said: str) -> None:
    assert scorer_sentence(found) == said


FELL, ROSE = finding(-0.1, name="json"), finding(0.1, name="tone")
SAME, NOISY = finding(0.1, 0.2), finding(0.01, noise=0.1)
WHOLES = [
    (
        (400, 12, 3, 0.035, [FELL]),
        "12 of 400 cases broke, 3 were fixed (more than chance explains, p = 0.035); "
        "the drop in json is larger than chance explains.",
    ),
    (
        (4000, 1, 1, 1.0, [SAME, NOISY]),
        "1 of 4,000 cases broke, 1 was fixed (no more than chance explains, p = 1.000); "
        "no score moved by more than chance explains.",
    ),
    (
        (1, 0, 0, 1.0, [FELL, ROSE]),
        "None of 1 case broke or was fixed; "
        "the drop in json and the rise in tone are larger than chance explains.",
    ),
    ((0, 0, 0, None, []), "The runs have no case in common."),
]


@pytest.mark.parametrize(("given_", "said"), WHOLES)
def test_the_whole_is_told_in_one_sentence(
    given_: tuple[int, int, int, float | None, list[Finding]], said: str
) -> None:
    assert whole_sentence(*given_) == said


UNJUDGED = [
    (Unjudged(), ""),
    (Unjudged(passed_before=11), "11 passed before but could not be judged now"),
    (Unjudged(failed_before=1), "1 failed before but could not be judged now"),
    (
        Unjudged(passed_before=1_100, failed_before=2),
        "1,100 passed before and 2 failed before but could not be judged now",
    ),
    (Unjudged(judged_now=3), "3 could not be judged before"),
    (Unjudged(neither=4), "4 could not be judged in either run"),
    (
        Unjudged(1, 0, 3, 4),
        "1 passed before but could not be judged now, 3 could not be judged before, "
        "4 could not be judged in either run",
    ),
]


@pytest.mark.parametrize(("unjudged", "said"), UNJUDGED)
@pytest.mark.parametrize(
    ("flipped", "told"),
    [
        ((0, 0), "None of 2,000 cases broke or was fixed"),
        ((2, 1), "2 of 2,000 cases broke, 1 was fixed (no more than chance explains, p = 0.500)"),
    ],
)
def test_cases_that_could_not_be_judged_are_told_apart_from_broken_ones(
    flipped: tuple[int, int], told: str, unjudged: Unjudged, said: str
) -> None:
    parts = [told, *filter(None, [said]), "no score moved by more than chance explains."]
    assert whole_sentence(2_000, *flipped, 0.5, [], unjudged) == "; ".join(parts)


def test_three_movers_are_listed() -> None:
    told = whole_sentence(9, 1, 0, 1.0, [FELL, ROSE, finding(-0.2, name="style")])
    assert "the drop in json, the rise in tone and the drop in style are larger" in told


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
    ],
)
def test_sizes_are_short_and_never_vanish(value: float, said: str) -> None:
    assert size_text(value) == said


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5) | st.none(), st.integers(1, 5))
def test_nothing_is_ever_called_significant(
    mean: float, p: float, noise: float | None, tests: int
) -> None:
    found = finding(mean, p, tests=tests, noise=noise, interval=(mean - 0.1, mean + 0.1))
    told = scorer_sentence(found) + whole_sentence(9, 2, 1, p, [found])
    assert "significant" not in told
    assert told.count(".") >= 2
    is_across = abs(mean) <= 0.1
    assert ("shows no difference" in told) == (p > 0.05 and is_across)
