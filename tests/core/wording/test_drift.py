"""What a drift line says in sentences."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from scoring.core.stats.change_points import (
    ChangePoint,
    ControlLimits,
    DecidedRun,
    LevelPeriod,
    Outcome,
)
from scoring.core.wording.drift import (
    MAX_CHANGES_SHOWN,
    Level,
    Step,
    drift_sentences,
    same_text,
)

LIMITS = ControlLimits(0.8, 0.7, 0.9, 12)
NOTHING = Level(None, 0, LevelPeriod(), [], None)


class Told(NamedTuple):
    """A run with all its figures."""

    label: str
    mean: float | None
    n: int = 1_200
    pairs: int | None = None
    fixed: int | None = None
    broke: int | None = None
    similarity: float | None = None
    distinct_share: float | None = None
    sampled: int | None = None
    commonest: int | None = None
    churn_p: float | None = None
    mcnemar_p: float | None = None


def told(number: int, mean: float | None = 0.8, **fields: object) -> Told:
    return Told(f"w{number}", mean)._replace(**fields)


def said(*runs: Told, level: Level = NOTHING, parted: tuple[int, ...] = ()) -> list[str]:
    flipped = [place for place, run in enumerate(runs) if run.churn_p or run.mcnemar_p]
    needed = {place: runs[place] for place in {len(runs) - 1, *flipped[-MAX_CHANGES_SHOWN:]}}
    return drift_sentences(
        "close enough", runs, needed, level, "w0", parted=parted, flipped=flipped
    )


def about(points: int, **fields: object) -> list[str]:
    """What is said after the first sentence of so many points."""
    return said(*(told(n) for n in range(points)), level=NOTHING._replace(**fields))[1:]


@pytest.mark.parametrize(
    ("means", "text"),
    [
        ([0.8], "close enough is at 0.800 in w0 (n = 1,200)."),
        ([0.8, 0.75], "close enough is at 0.750 in w1 (n = 1,200), 0.050 less than in w0."),
        ([0.8, 0.9], "close enough is at 0.900 in w1 (n = 1,200), 0.100 more than in w0."),
        ([0.8, 0.8004], "close enough is at 0.800 in w1 (n = 1,200), the same as in w0."),
        ([None, 0.8], "close enough is at 0.800 in w1 (n = 1,200)."),
        ([0.8, None], "close enough has scored nothing in w1."),
    ],
)
def test_it_begins_with_where_the_line_is(means: list[float | None], text: str) -> None:
    assert said(*(told(number, mean) for number, mean in enumerate(means))) == [text]


def test_means_across_a_break_are_not_compared() -> None:
    found = said(told(0), told(1), parted=(1,))
    assert found == ["close enough is at 0.800 in w1 (n = 1,200)."]


def steady(p: float | None, corrected: float | None = None) -> DecidedRun:
    return DecidedRun(0.8, Outcome.STEADY, 0, p, p if corrected is None else corrected)


@pytest.mark.parametrize(
    ("newest", "tested", "text"),
    [
        (None, 3, "w3 is not tested against earlier runs yet."),
        (steady(None), 3, "w3 has too few cases in common with earlier runs to test for a change."),
        (steady(0.4), 3, "No significant change against the 3 runs since w0 (p = 0.400)."),
        (steady(0.4), 1, "No significant change against w0 (p = 0.400)."),
        (steady(0.01), 1, "No significant change against w0 (p = 0.010; the level is 0.0025)."),
        (steady(0.001, 0.006), 1,
            "No significant change against w0 (p = 0.006; the level is 0.0025)."),
        (steady(0.0001), 3, "w3 differs from the 3 runs since w0 (p < 0.001), but by no more than "
            "these vary among themselves."),
    ],
)  # fmt: skip
def test_the_newest_runs_test_is_told(newest: DecidedRun | None, tested: int, text: str) -> None:
    assert about(4, newest=newest, tested=tested, period=LevelPeriod([0, 1, 2, 3])) == [text]


CHANGES = [
    ChangePoint(1, 0.8, 0.6, 0.002),
    ChangePoint(2, 0.6, 0.8, 0.0005),
    ChangePoint(3, 0.8, 0.7, 0.001),
    ChangePoint(4, 0.7, 0.75, 0.0001),
]


def test_changes_of_level_are_told_the_latest_first() -> None:
    newest = DecidedRun(0.8, Outcome.CHANGED, 0, 0.0001, 0.0001)
    assert about(5, newest=newest, period=LevelPeriod([4]), changes=CHANGES) == [
        "The level increased with w4: from 0.700 to 0.750 (p < 0.001).",
        "The level decreased with w3: from 0.800 to 0.700 (p = 0.001).",
        "The level increased with w2: from 0.600 to 0.800 (p < 0.001).",
        "It changed 1 time before.",
    ]


@pytest.mark.parametrize(
    ("mean", "left", "text"),
    [
        (0.5, [2], "w2 was below this level; back at it since w4."),
        (0.5, [2, 3], "w2 and w3 were below this level; back at it since w4."),
        (0.9, [2, 3], "w2 and w3 were above this level; back at it since w4."),
    ],
)
def test_runs_at_another_level_in_between_are_told(mean: float, left: list[int], text: str) -> None:
    points = [told(n, mean if n in left else 0.8) for n in range(6)]
    level = NOTHING._replace(newest=steady(0.5), tested=2, period=LevelPeriod([0, 1, 4, 5], left))
    assert said(*points, level=level)[2:] == [text]


def test_limits_are_told_and_without_them_the_last_step() -> None:
    level = NOTHING._replace(
        limits=LIMITS, period=LevelPeriod([1, 2]), newest=steady(0.5), tested=1
    )
    level = level._replace(step=Step("w1", 200, -0.05, -0.09, -0.01, 0.012))
    last = told(2, pairs=200, fixed=2, broke=12)
    assert said(told(0), told(1), last, level=level)[-1] == (
        "Control limits of the latest 12 runs since w1: 0.700 to 0.900."
    )
    without = level._replace(limits=None, detectable=0.0801)
    assert said(told(0), told(1), last, level=without)[-2:] == [
        "Against w1 alone, over the same 200 outputs: \N{MINUS SIGN}0.050 [\N{MINUS SIGN}0.090, "
        "\N{MINUS SIGN}0.010] (p = 0.012); 2 fixed, 12 broke.",
        "A decrease of 0.081 in the next run is detectable with 80\u202f% power.",
    ]


@pytest.mark.parametrize(
    ("churn_p", "mcnemar_p", "why"),
    [
        (0.0001, None, "(more than usual, p < 0.001)."),
        (None, 0.0001, "(significantly more fixed than broke, p < 0.001)."),
        (0.0001, 0.0009,
            "(more than usual, p < 0.001; significantly more fixed than broke, p < 0.001)."),
    ],
)  # fmt: skip
def test_unusual_flips_are_called_out(
    churn_p: float | None, mcnemar_p: float | None, why: str
) -> None:
    flips = {"pairs": 1_000, "fixed": 40, "broke": 12, "churn_p": churn_p, "mcnemar_p": mcnemar_p}
    assert said(told(0), told(1, 0.801, **flips))[1:] == [
        "From w0 to w1 the mean hardly moved (0.800 to 0.801), but 52 of 1,000 cases changed "
        f"their verdict by close enough: 40 fixed, 12 broke {why}"
    ]
    (moved,) = said(told(0), told(1, 0.9, **flips))[1:]
    assert moved.startswith("From w0 to w1 the mean moved (0.800 to 0.900), and 52 of 1,000 cases")


def test_flips_as_usual_are_not_told() -> None:
    assert said(told(0), told(1, 0.801, pairs=100, fixed=40, broke=40))[1:] == []


def test_only_the_latest_steps_are_told_one_by_one() -> None:
    flips = {"pairs": 100, "fixed": 5, "broke": 5, "churn_p": 0.0001}
    found = said(told(0), *(told(number, **flips) for number in range(1, 7)))[1:]
    assert [text[:14] for text in found[:3]] == [
        "From w3 to w4 ",
        "From w4 to w5 ",
        "From w5 to w6 ",
    ]
    assert found[3:] == ["The same is true of 3 earlier steps."]


def test_texts_are_told_apart_from_the_reference() -> None:
    assert said(told(0, similarity=1.0)) == ["close enough is at 0.800 in w0 (n = 1,200)."]
    last = said(told(0, similarity=1.0), told(1, similarity=0.625))[-1]
    assert last == "The similarity of its outputs to those of w0 is 0.63."


@pytest.mark.parametrize(("share", "is_told"), [(0.8, False), (0.7, True), (0.1, True)])
def test_outputs_that_become_alike_are_told(share: float, is_told: bool) -> None:
    last = said(told(0, distinct_share=0.9), told(1, distinct_share=share))[-1]
    now = f"{100 * share:.0f}\u202f%"
    text = f"Outputs are more alike: {now} are unique, 90\u202f% in w0."
    assert (last == text) == is_told


def test_outputs_are_compared_with_those_of_the_first_run_that_was_looked_at() -> None:
    last = said(told(0), told(1, distinct_share=0.9), told(2, distinct_share=0.5))[-1]
    assert last == "Outputs are more alike: 50\u202f% are unique, 90\u202f% in w1."


@pytest.mark.parametrize(
    ("sampled", "commonest", "text"),
    [
        (30, 30, "all 30 outputs looked at are the same text"),
        (30, 27, "27 of 30 outputs looked at are the same text"),
        (20, 18, "18 of 20 outputs looked at are the same text"),
        (30, 26, ""),
        (19, 19, ""),
        (0, 0, ""),
    ],
)
def test_a_text_that_nearly_all_outputs_are_is_told(
    sampled: int, commonest: int, text: str
) -> None:
    assert same_text(sampled, commonest) == text


def test_runs_of_one_text_are_named_wherever_they_stand() -> None:
    same = [told(n, sampled=30, commonest=30 if n in (0, 2, 3, 4) else 1) for n in range(6)]
    assert said(*same)[1:] == [
        *(f"In w{n} all 30 outputs looked at are the same text." for n in (2, 3, 4)),
        "The same is true of w0.",
    ]
