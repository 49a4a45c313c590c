"""The pass rate corrected by people's reviews, from a scorer's verdicts and some random labels."""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

from scoring.core.stats.calibration import VerdictTable, Z
from scoring.core.stats.descriptive import Estimate, Interval, rate_estimate

MIN_LABELS: Final = 50
MIN_OF_A_KIND: Final = 5  # labels of pass, and of fail: with fewer no normal interval holds


class CorrectedRate(NamedTuple):
    """The share of outputs that people would pass, with 95 % confidence.

    `weight` (0..1) is that of the scorer's verdicts: 0 where they tell nothing of people's.
    `labels` is the estimate from the labels alone.
    """

    value: float
    interval: Interval
    weight: float
    labels: Estimate

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.interval)

    @property
    def width(self) -> float:
        return _width(self.interval)

    @property
    def is_narrower(self) -> bool:
        """Whether the scorer's verdicts make it more precise than the labels alone."""
        return self.labels.interval is None or self.width < _width(self.labels.interval)


def corrected_rate(labelled: VerdictTable, others: tuple[int, int]) -> CorrectedRate | None:
    """From the outputs with a label, drawn at random among all, and from how many of the `others`
    the scorer passed and failed.

    Prediction-powered inference with the weight from 0 to 1 that minimises the variance: the
    scorer's rate over the other outputs, corrected by its error on the labelled ones. None below
    MIN_LABELS labels or MIN_OF_A_KIND of a verdict. A. N. Angelopoulos, J. C. Duchi and T. Zrnic,
    PPI++: Efficient prediction-powered inference, arXiv:2311.01453 (2023), sections 4 and 6; with
    the sample variance of the labelled outputs in the weight, so that the interval is never wider
    than that of weight 0.
    """
    if lacking_labels(labelled):
        return None
    moments, unlabelled = _Moments.of(labelled, others), sum(others)
    weight = moments.weight(labelled.n, unlabelled)
    value = moments.people
    if weight:
        value += weight * (others[0] / unlabelled - moments.scorer)
    reach = Z * sqrt(moments.variance(labelled.n, unlabelled))
    labels = rate_estimate(labelled.both_pass + labelled.only_people_pass, labelled.n)
    assert labels is not None  # noqa: S101 - there are at least MIN_LABELS
    interval = (max(0.0, value - reach), min(1.0, value + reach))
    return CorrectedRate(min(1.0, max(0.0, value)), interval, weight, labels)


def lacking_labels(labelled: VerdictTable) -> int:
    """How many labels a corrected rate lacks at least; 0 where there are enough."""
    rarer = min(
        labelled.both_pass + labelled.only_people_pass,
        labelled.only_scorer_passes + labelled.both_fail,
    )
    return max(0, MIN_LABELS - labelled.n, MIN_OF_A_KIND - rarer)


def labels_for_margin(labelled: VerdictTable, others: tuple[int, int], margin: float) -> int | None:
    """How many more labels, drawn at random, make the corrected rate known within ± `margin`.

    0 where it is already; None where even a label for every output does not.
    """
    n, unlabelled = labelled.n, sum(others)
    moments = _Moments.of(labelled, others)
    sizes = range(n, n + unlabelled + 1)
    wanted = (margin / Z) ** 2

    def is_enough(size: int) -> bool:
        return moments.variance(size, n + unlabelled - size) <= wanted

    if not is_enough(sizes[-1]):
        return None
    low, high = 0, unlabelled
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(n + middle) else (middle + 1, high)
    return low


class _Moments(NamedTuple):
    """Means and sample variances of people's verdicts and the scorer's on the labelled outputs,
    their covariance, and the variance of the scorer's on all outputs.
    """

    people: float
    scorer: float
    people_variance: float
    scorer_variance: float
    covariance: float
    whole_variance: float

    @classmethod
    def of(cls, labelled: VerdictTable, others: tuple[int, int]) -> _Moments:
        n = labelled.n
        people = (labelled.both_pass + labelled.only_people_pass) / n
        passed = labelled.both_pass + labelled.only_scorer_passes
        scorer = passed / n
        return cls(
            people,
            scorer,
            _variance(people, n),
            _variance(scorer, n),
            (labelled.both_pass / n - people * scorer) * n / (n - 1),
            _variance((passed + others[0]) / (n + sum(others)), n + sum(others)),
        )

    def weight(self, labels: int, unlabelled: int) -> float:
        """The weight with the least variance for these numbers of outputs.

        Of two verdicts the covariance is never above the scorer's variance, so neither is this 1.
        """
        if not unlabelled or not self.whole_variance:
            return 0.0
        best = self.covariance / (self.scorer_variance + labels / unlabelled * self.whole_variance)
        return max(0.0, best)

    def variance(self, labels: int, unlabelled: int) -> float:
        """Of the corrected rate with these numbers of outputs."""
        weight = self.weight(labels, unlabelled)
        left = self.people_variance - 2 * weight * self.covariance
        variance = (left + weight**2 * self.scorer_variance) / labels
        return variance + (weight**2 * self.whole_variance / unlabelled if weight else 0.0)


def _variance(rate: float, n: int) -> float:
    """The sample variance of n verdicts."""
    return rate * (1 - rate) * n / (n - 1)


def _width(interval: Interval) -> float:
    low, high = interval
    return high - low
