"""Whether two raters agree, a judge and a person say, and whether a judge follows the place.

Labels are any texts; a rater's missing label leaves the case out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import NamedTuple, TypeVar

from scoring.core.stats import Estimate, rate_estimate

Pair = tuple[str, str]  # the first rater's label, the second's
Key = TypeVar("Key")


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
    the place. `followed_content` counts those for which it chose the same thing both times, or
    neither of the two. `neither` counts the rest, such as a place once and a tie once.
    """

    same_place: Mapping[str, int]
    followed_content: int
    neither: int = 0

    @property
    def n(self) -> int:
        return self.bound + self.followed_content + self.neither

    @property
    def bound(self) -> int:
        """The pairs decided by the place."""
        return sum(self.same_place.values())

    @property
    def bound_to_place(self) -> Estimate | None:
        """The share of pairs decided by the place."""
        return rate_estimate(self.bound, self.n)


def place_bias(
    as_is: Mapping[Key, str], swapped: Mapping[Key, str], turned: Mapping[str, str]
) -> PlaceBias:
    """From the chosen label by case key, in the first order and in the other one.

    `turned` tells of each label which one says the same when the two things change places.
    """
    both = [(choice, swapped[key]) for key, choice in as_is.items() if key in swapped]
    followed = sum(turned[one] == other for one, other in both)
    same = Counter(one for one, other in both if one == other != turned[one])
    return PlaceBias(dict(sorted(same.items())), followed, len(both) - followed - same.total())


def turned_labels(scores: Mapping[str, float]) -> dict[str, str]:
    """Which label says the same once the two things to choose between have changed places.

    Of two labels the other one; of more the only one whose score is 1 minus its own, so that a tie
    of 0.5 stays a tie. Empty where that is not told of every label.
    """
    if len(scores) == 2:
        one, other = scores
        return {one: other, other: one}
    found = {label: _labels_of(1 - score, scores) for label, score in scores.items()}
    is_clear = all(len(labels) == 1 for labels in found.values())
    return {label: labels[0] for label, labels in found.items()} if is_clear else {}


def _labels_of(wanted: float, scores: Mapping[str, float]) -> list[str]:
    return [label for label, score in scores.items() if isclose(score, wanted, abs_tol=1e-9)]
