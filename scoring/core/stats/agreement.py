"""Agreement of two raters such as a judge and a person, and a judge's position bias.

Labels are any texts; a rater's missing label leaves the case out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import NamedTuple, TypeVar

from scoring.core.stats.descriptive import Estimate, rate_estimate

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
        """Agreement beyond chance; None without cases, or where chance alone always agrees.

        J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
        Measurement 20 (1960).
        """
        if not self.n:
            return None
        ones: Counter[str] = Counter()
        others: Counter[str] = Counter()
        for (one, other), count in self.counts.items():
            ones[one] += count
            others[other] += count
        by_chance = sum(ones[label] * others[label] for label in ones) / self.n**2
        return None if by_chance == 1 else (self.agreed / self.n - by_chance) / (1 - by_chance)


def measure_agreement(pairs: Iterable[Pair]) -> Agreement:
    return Agreement(Counter(pairs))


class PositionBias(NamedTuple):
    """A judge's choices between two texts, presented in both orders.

    `same_place` counts by position the pairs for which the judge chose that position both times.
    `followed_content` counts those for which it chose the same text both times, or none of the two
    both times. `neither` counts the rest, such as a position once and a tie once.
    """

    same_place: Mapping[str, int]
    followed_content: int
    neither: int = 0

    @property
    def n(self) -> int:
        return self.decided_by_position + self.followed_content + self.neither

    @property
    def decided_by_position(self) -> int:
        """The number of pairs decided by the position."""
        return sum(self.same_place.values())

    @property
    def bound_to_place(self) -> Estimate | None:
        """The share of pairs decided by the position."""
        return rate_estimate(self.decided_by_position, self.n)


def measure_position_bias(
    as_is: Mapping[Key, str], swapped: Mapping[Key, str], turned: Mapping[str, str]
) -> PositionBias:
    """From the chosen label by case key, in the first order and in the other one.

    `turned` maps each label to the one that says the same once the two texts are swapped.
    """
    pairs = [(choice, swapped[key]) for key, choice in as_is.items() if key in swapped]
    followed = sum(turned[one] == other for one, other in pairs)
    same = Counter(one for one, other in pairs if one == other != turned[one])
    return PositionBias(dict(sorted(same.items())), followed, len(pairs) - followed - same.total())


def swap_labels(scores: Mapping[str, float]) -> dict[str, str]:
    """Map each label to the one that says the same once the two texts are swapped.

    Of two labels, the other one; of more, the only one whose score is 1 minus its own, so that a
    tie of 0.5 stays a tie. Empty unless every label has one.
    """
    if len(scores) == 2:
        one, other = scores
        return {one: other, other: one}
    swapped: dict[str, str] = {}
    for label, score in scores.items():
        opposites = [name for name in scores if isclose(scores[name], 1 - score, abs_tol=1e-9)]
        if len(opposites) != 1:
            return {}
        swapped[label] = opposites[0]
    return swapped
