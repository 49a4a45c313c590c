"""Whether two raters agree, a judge and a person say, and whether a judge follows the place.

Labels are any texts; a rater's missing label leaves the case out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scoring.core.stats import Estimate, rate_estimate

Pair = tuple[str, str]  # the first rater's label, the second's


@dataclass(frozen=True)
class Agreement:
    """How often each pair of labels occurred; everything else follows from these counts."""

    counts: Counter[Pair]

    @property
    def n(self) -> int:
        return self.counts.total()

    @property
    def agreed(self) -> int:
        return sum(count for (one, other), count in self.counts.items() if one == other)

    @property
    def rate(self) -> Estimate | None:
        return rate_estimate(self.agreed, self.n)

    @property
    def labels(self) -> Sequence[str]:
        return sorted({label for pair in self.counts for label in pair})

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance; None without cases, or where chance alone agrees always.

        J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
        Measurement 20 (1960).
        """
        if not self.n:
            return None
        ones, others = self._margins()
        by_chance = sum(ones[label] * others[label] for label in ones) / self.n**2
        return None if by_chance == 1 else (self.agreed / self.n - by_chance) / (1 - by_chance)

    def _margins(self) -> tuple[Counter[str], Counter[str]]:
        ones: Counter[str] = Counter()
        others: Counter[str] = Counter()
        for (one, other), count in self.counts.items():
            ones[one] += count
            others[other] += count
        return ones, others


def agreement(pairs: Iterable[Pair]) -> Agreement:
    return Agreement(Counter(pairs))


class PlaceBias(NamedTuple):
    """A judge's choices between two places, asked in both orders of the same two things.

    `same_place` counts by place the pairs for which it chose that place both times: it followed
    the place. `followed_content` counts those for which it changed its choice with the order.
    """

    same_place: Mapping[str, int]
    followed_content: int

    @property
    def n(self) -> int:
        return sum(self.same_place.values()) + self.followed_content

    @property
    def bound_to_place(self) -> Estimate | None:
        """The share of pairs decided by the place."""
        return rate_estimate(sum(self.same_place.values()), self.n)


def place_bias(as_is: Mapping[str, str], swapped: Mapping[str, str]) -> PlaceBias:
    """From the chosen place by case key, in the first order and in the other one."""
    both = [(choice, swapped[key]) for key, choice in as_is.items() if key in swapped]
    same = Counter(one for one, other in both if one == other)
    return PlaceBias(dict(sorted(same.items())), len(both) - same.total())


def other_label(label: str, labels: Iterable[str]) -> str | None:
    """Of exactly two labels the other one; None otherwise."""
    others = set(labels) - {label}
    return others.pop() if len(others) == 1 else None
