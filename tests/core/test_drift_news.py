"""What a list says of a line of means."""

from __future__ import annotations

import pytest

from scoring.core.drift import FEWEST, LATEST
from scoring.core.drift_news import MOST_NAMED, Weight, listed, news_of

HIGH = [0.90, 0.91, 0.90, 0.89, 0.90, 0.91]
LOW = [0.70, 0.71, 0.70, 0.69, 0.70, 0.71]


def labels(count: int) -> list[str]:
    return [f"w{number}" for number in range(count)]


def said(means: list[float]) -> tuple[Weight, str] | None:
    news = news_of(labels(len(means)), means)
    return (news.weight, news.text) if news else None


@pytest.mark.parametrize(
    ("means", "weight", "text"),
    [
        (HIGH + LOW, Weight.DRIFTS, "fell with w6: 0.902 → 0.702"),
        (LOW + HIGH, Weight.ROSE, "rose with w6: 0.702 → 0.902"),
        (
            HIGH * 2 + LOW * 2 + HIGH,
            Weight.PAST,
            "fell with w12 and rose again with w24: 0.702 → 0.902",
        ),
        (LOW + HIGH * 3 + [0.2], Weight.DRIFTS, "is below its control limits in w24"),
        ([0.9] * 12 + [0.5], Weight.DRIFTS, "is below its control limits in w12"),
        (
            [0.9] * 6 + [0.5, 0.5] + [0.9] * 6,
            Weight.PAST,
            "was below its control limits in w6 and w7, inside again since w8",
        ),
    ],
)
def test_news_names_the_run_and_what_happened(
    means: list[float], weight: Weight, text: str
) -> None:
    assert said(means) == (weight, text)


@pytest.mark.parametrize(
    "means",
    [
        pytest.param([], id="no runs"),
        pytest.param([0.9] * 12, id="level"),
        pytest.param(HIGH * 2, id="wandering"),
        pytest.param([*([0.9] * 3), *([0.1] * 4)], id="too few runs for limits"),
        pytest.param(HIGH * 2 + [0.99], id="above the limits"),
    ],
)
def test_what_is_usual_or_better_is_no_news(means: list[float]) -> None:
    assert said(means) is None


def test_limits_need_as_many_runs_as_on_the_drift_page() -> None:
    means = [0.9] * (FEWEST - 1)
    assert said([*means[1:], 0.2]) is None
    assert said([*means, 0.2]) is not None


def test_a_fall_long_ago_is_what_is_usual_now() -> None:
    fresh, old = LATEST - 2, LATEST + 2
    assert said(HIGH + (LOW * 4)[:fresh]) is not None
    assert said(HIGH + (LOW * 4)[:old]) is None


def test_a_run_below_limits_that_span_a_rise_is_told_with_it() -> None:
    news = news_of(labels(21), [0.6, 0.61] * 5 + [0.7, 0.71] * 5 + [0.55])
    assert news
    assert news.weight == Weight.DRIFTS
    assert news.text == (
        "is below its control limits in w20, though these span the change of level with w10"
    )


def test_of_several_scorers_the_text_is_plural() -> None:
    news = news_of(labels(13), [0.9] * 12 + [0.5])
    assert news
    assert news.texts == "are below their control limits in w12"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b and 2 more"),
        (["a"] * 1_234, "a, a and 1,232 more"),
    ],
)
def test_names_are_listed_as_in_a_sentence(names: list[str], text: str) -> None:
    assert listed(names) == text
    assert len(text.replace(" and ", ", ").split(", ")) <= MOST_NAMED
