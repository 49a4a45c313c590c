"""Confusion matrices against counting straight from the pairs of labels."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.stats.confusion_matrix import ConfusionMatrix, Rates

LABELS = ["ham", "spam", "eggs"]
pairs = st.lists(st.tuples(st.sampled_from([*LABELS, "?"]), st.sampled_from([*LABELS, "?"])))


def matrix(found: list[tuple[str, str]]) -> ConfusionMatrix:
    every = [*LABELS, "?"]
    counts = [[found.count((row, column)) for column in every] for row in every]
    return ConfusionMatrix(LABELS, counts)


def counted(found: list[tuple[str, str]], label: str) -> Rates:
    """The definitions, case by case."""
    hits = sum(expected == answered == label for expected, answered in found)
    false_alarms = sum(answered == label != expected for expected, answered in found)
    misses = sum(expected == label != answered for expected, answered in found)
    precision = hits / (hits + false_alarms) if hits + false_alarms else None
    recall = hits / (hits + misses) if hits + misses else None
    both = 2 * hits + false_alarms + misses
    return Rates(precision, recall, 2 * hits / both if both else None)


@given(pairs)
def test_the_rates_of_each_label_are_those_of_counting_the_pairs(
    found: list[tuple[str, str]],
) -> None:
    by_label = {each.label: each for each in matrix(found).classes}
    for label in LABELS:
        assert by_label[label].rates == pytest.approx(counted(found, label))
        assert by_label[label].expected == sum(expected == label for expected, _ in found)
        assert by_label[label].answered == sum(answered == label for _, answered in found)


@given(pairs)
def test_macro_is_the_mean_of_the_labels_that_have_the_figure(
    found: list[tuple[str, str]],
) -> None:
    known = [rate for label in LABELS if (rate := counted(found, label).f1) is not None]
    assert matrix(found).macro.f1 == (pytest.approx(fmean(known)) if known else None)


@given(pairs)
def test_micro_counts_every_answer_once(found: list[tuple[str, str]]) -> None:
    answered = [pair for pair in found if pair[1] in LABELS]
    expected = [pair for pair in found if pair[0] in LABELS]
    right = sum(one == other for one, other in answered)
    micro = matrix(found).micro
    assert micro.precision == (right / len(answered) if answered else None)
    assert micro.recall == (right / len(expected) if expected else None)


@given(pairs)
def test_nothing_is_counted_twice_or_lost(found: list[tuple[str, str]]) -> None:
    confusion = matrix(found)
    assert confusion.n == len(found)
    assert confusion.has_others == any("?" in pair for pair in found)


def test_without_labels_there_is_nothing_to_say() -> None:
    assert (
        ConfusionMatrix([], [[3]]).micro
        == ConfusionMatrix([], [[3]]).macro
        == Rates(None, None, None)
    )
