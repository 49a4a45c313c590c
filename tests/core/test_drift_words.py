"""What a drift line says in sentences."""

from __future__ import annotations

import pytest

from scoring.core.drift import Change, Limits
from scoring.core.drift_words import Told, hides_flips, sentences

LIMITS = Limits(0.8, 0.7, 0.9, 12)


def told(number: int, mean: float | None = 0.8, **fields: object) -> Told:
    plain = Told(f"w{number}", 1_200, mean, 0.7, None, None, None, None, None)
    return plain._replace(**fields)


def said(*points: Told, limits: Limits | None = None, **options: object) -> list[str]:
    given: dict[str, object] = {"outside": [], "changes": [], "reference": "w0", **options}
    return sentences("close enough", points, limits, **given)  # type: ignore[arg-type]


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
    flipping = told(1, 0.8, pairs=100, fixed=10, broke=10)
    assert said(told(0), flipping, parted=[1]) == ["close enough is at 0.800 in w1 (n = 1,200)."]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change(1, 0.8, 0.6, 0.004), "The level fell with w1: from 0.800 to 0.600 (p = 0.004)."),
        (Change(2, 0.6, 0.8, 0.001), "The level rose with w2: from 0.600 to 0.800 (p = 0.001)."),
        (Change(2, 0.6, 0.8, 0.0005), "The level rose with w2: from 0.600 to 0.800 (p < 0.001)."),
    ],
)
def test_a_change_of_level_is_told(change: Change, text: str) -> None:
    assert said(told(0), told(1), told(2), changes=[change])[1] == text


SPAN = "(0.700 to 0.900, from 12 runs)"


@pytest.mark.parametrize(
    ("outside", "texts"),
    [
        ([], ["The last 12 runs lie inside their control limits, 0.700 to 0.900."]),
        ([(4, True)], [f"w4 lies below the control limits {SPAN}."]),
        ([(1, True), (2, True)], [f"w1 and w2 lie below the control limits {SPAN}.",
            "Inside the limits again since w3."]),
        ([(1, False), (3, True)], [f"w3 lies below the control limits {SPAN}.",
            f"w1 lies above the control limits {SPAN}.", "Inside the limits again since w4."]),
        ([(n, True) for n in range(5)],
            [f"w2, w3 and w4, and 2 earlier ones, lie below the control limits {SPAN}."]),
    ],
)  # fmt: skip
def test_runs_beyond_the_limits_are_named(
    outside: list[tuple[int, bool]], texts: list[str]
) -> None:
    points = [told(number) for number in range(5)]
    assert said(*points, limits=LIMITS, outside=outside)[1:] == texts


@pytest.mark.parametrize(
    ("before", "after", "pairs", "fixed", "broke", "hides"),
    [
        (0.80, 0.81, 100, 3, 2, True),
        (0.80, 0.81, 100, 2, 2, False),  # fewer than five
        (0.80, 0.81, 1_000, 10, 9, False),  # fewer than two in a hundred
        (0.80, 0.81, 1_000, 10, 10, True),
        (0.80, 0.83, 100, 30, 20, False),  # the mean tells it
        (None, 0.80, 100, 30, 20, False),
        (0.80, None, 100, 30, 20, False),
        (0.80, 0.80, None, None, None, False),
        (0.80, 0.80, 0, 0, 0, False),
    ],
)
def test_a_flat_mean_hides_many_flips(
    before: float | None, after: float | None, pairs: int, fixed: int, broke: int, hides: bool
) -> None:
    one, other = told(0, before), told(1, after, pairs=pairs, fixed=fixed, broke=broke)
    assert hides_flips(one, other) is hides


WIDE = "The control limits, 0.700 to 0.900, span the {} of level with {}, so they "
LITTLE = "are wide: to lie inside them says little."
NEITHER = "fit neither level."


@pytest.mark.parametrize(
    ("spanned", "outside", "texts"),
    [
        ([3], [], [WIDE.format("change", "w3") + LITTLE]),
        ([2, 3], [], [WIDE.format("changes", "w2 and w3") + LITTLE]),
        ([3], [(4, True)],
            [WIDE.format("change", "w3") + NEITHER, f"w4 lies below the control limits {SPAN}."]),
    ],
)  # fmt: skip
def test_limits_over_a_change_of_level_do_not_reassure(
    spanned: list[int], outside: list[tuple[int, bool]], texts: list[str]
) -> None:
    points = [told(number) for number in range(5)]
    assert said(*points, limits=LIMITS, outside=outside, spanned=spanned)[1:] == texts


def test_hidden_flips_are_called_out() -> None:
    flipping = told(1, 0.801, pairs=1_000, fixed=28, broke=24)
    assert said(told(0), flipping)[1:] == [
        "From w0 to w1 the mean hardly moved (0.800 to 0.801), but 52 of 1,000 cases changed "
        "their verdict by close enough: 28 fixed, 24 broke."
    ]


def test_only_the_latest_steps_are_told_one_by_one() -> None:
    flips = {"pairs": 100, "fixed": 5, "broke": 5}
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
    assert last == "Its outputs are 0.63 similar to those of w0."


@pytest.mark.parametrize(("share", "is_told"), [(0.8, False), (0.7, True), (0.1, True)])
def test_outputs_that_become_alike_are_told(share: float, is_told: bool) -> None:
    last = said(told(0, distinct=0.9), told(1, distinct=share))[-1]
    now = f"{100 * share:.0f}\u202f%"
    text = f"Outputs are more alike: {now} of them are distinct, 90\u202f% in w0."
    assert (last == text) == is_told


def test_outputs_that_are_one_text_are_not_called_different() -> None:
    last = said(told(0, distinct=0.9), told(1, distinct=0.02, are_same=True))[-1]
    assert last == "Outputs are more alike: all are the same, 90\u202f% were distinct in w0."
