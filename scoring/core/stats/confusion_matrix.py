"""Confusion matrices, and precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple


class Rates(NamedTuple):
    """Precision, recall and their harmonic mean, each 0..1; None where there is nothing to divide
    by. scikit-learn says 0 there, which would read as a result.
    """

    precision: float | None
    recall: float | None
    f1: float | None


class ClassRates(NamedTuple):
    """One label: in how many cases it was expected and answered, in how many both, its rates."""

    label: str
    expected: float
    answered: float
    right: float
    rates: Rates


@dataclass(frozen=True)
class ConfusionMatrix:
    """Cases counted by expected label (rows) and answered label (columns); one with several trials
    by the share of each.

    `counts` has a row and a column more than `labels`: the last ones are of all other texts.
    """

    labels: Sequence[str]
    counts: Sequence[Sequence[float]]

    @property
    def n(self) -> float:
        return sum(map(sum, self.counts))

    @property
    def has_others(self) -> bool:
        """Whether a text was expected or answered that is no label."""
        return any(self.counts[-1]) or any(row[-1] for row in self.counts)

    @cached_property
    def classes(self) -> list[ClassRates]:
        classes = []
        for index, label in enumerate(self.labels):
            expected = sum(self.counts[index])
            answered = sum(row[index] for row in self.counts)
            right = self.counts[index][index]
            figures = rates(expected, answered, right)
            classes.append(ClassRates(label, expected, answered, right, figures))
        return classes

    @property
    def macro(self) -> Rates:
        """The means over the classes that have the figure."""
        if not self.classes:
            return Rates(None, None, None)
        return Rates(*map(_mean, zip(*(label.rates for label in self.classes), strict=True)))

    @property
    def micro(self) -> Rates:
        """Over all classes at once: each case weighs the same."""
        sums = [sum(column) for column in zip(*(label[1:4] for label in self.classes), strict=True)]
        return rates(*sums) if sums else Rates(None, None, None)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def rates(expected: float, answered: float, right: float) -> Rates:
    """From counts of cases; F1 = 2 · right / (expected + answered), which needs neither rate."""
    return Rates(
        right / answered if answered else None,
        right / expected if expected else None,
        2 * right / (expected + answered) if expected + answered else None,
    )
