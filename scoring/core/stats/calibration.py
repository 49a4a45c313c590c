"""Calibration of a scorer: its verdicts, and those of any other threshold, against people's.

Plain Python, as a page needs neither numpy nor scipy for it. Pass is the positive class: precision
is the share of what the scorer passes that people pass, recall the share of what people pass that
the scorer passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from math import fsum, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

from scoring.core.stats.confusion_matrix import Rates, rates
from scoring.core.stats.descriptive import LEVEL, Estimate, Interval, rate_estimate

Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)
_TINY: Final = 1e-12  # below it a difference of two kappas, or its variance, is rounding


class VerdictTable(NamedTuple):
    """Outputs counted by the scorer's verdict and people's."""

    both_pass: int
    only_scorer_passes: int
    only_people_pass: int
    both_fail: int

    @property
    def n(self) -> int:
        return sum(self)

    @property
    def agreed(self) -> int:
        return self.both_pass + self.both_fail

    @property
    def agreement(self) -> Estimate | None:
        """The share of equal verdicts with its Wilson interval; None without outputs."""
        return rate_estimate(self.agreed, self.n)

    @property
    def rates(self) -> Rates:
        expected = self.both_pass + self.only_people_pass
        answered = self.both_pass + self.only_scorer_passes
        return rates(expected, answered, self.both_pass)

    @property
    def kappa(self) -> Estimate | None:
        """Cohen's kappa; None where all verdicts of both are the same, so that chance alone agrees.

        The interval is that of the large-sample standard error, clipped to -1..1, and None where
        agreement is complete or there is none at all: J. L. Fleiss, J. Cohen and B. S. Everitt,
        Large sample standard errors of kappa and weighted kappa, Psychological Bulletin 72 (1969).
        """
        found = _Kappa.of(self)
        if found is None:
            return None
        spread = fsum(
            count * found.influence(scorer, people) ** 2
            for count, (scorer, people) in zip(self, _CELLS, strict=True)
        )
        if spread < _TINY:
            return Estimate(found.value, None)
        reach = Z * sqrt(spread) / self.n
        return Estimate(
            found.value, (max(-1.0, found.value - reach), min(1.0, found.value + reach))
        )


_CELLS: Final = ((True, True), (True, False), (False, True), (False, False))


def verdict_table(pairs: Iterable[tuple[bool, bool]]) -> VerdictTable:
    """From the scorer's verdict and people's on each output, True for pass."""
    return table_from_counts(Counter(pairs))


def table_from_counts(counts: Counter[tuple[bool, bool]]) -> VerdictTable:
    """From how many outputs have the scorer's verdict and people's, True for pass."""
    return VerdictTable(*(counts[cell] for cell in _CELLS))


class _Kappa(NamedTuple):
    """Kappa with what its variance needs: the agreement, that by chance, and both pass rates."""

    value: float
    observed: float
    by_chance: float
    scorer_rate: float
    people_rate: float

    @classmethod
    def of(cls, table: VerdictTable) -> _Kappa | None:
        n = table.n
        scorer = table.both_pass + table.only_scorer_passes
        people = table.both_pass + table.only_people_pass
        chance = scorer * people + (n - scorer) * (n - people)  # of n², exact
        if chance == n * n:
            return None
        value = (table.agreed * n - chance) / (n * n - chance)
        return cls(value, table.agreed / n, chance / n**2, scorer / n, people / n)

    def influence(self, scorer: bool, people: bool) -> float:
        """By how much one output with these verdicts moves kappa, times n: the derivative of kappa
        by the shares of the four cells. Its mean square over the outputs is n times the variance.
        """
        room = 1 - self.by_chance
        by_chance = (scorer - self.scorer_rate) * (2 * self.people_rate - 1)
        by_chance += (people - self.people_rate) * (2 * self.scorer_rate - 1)
        agreed = (scorer == people) - self.observed
        return agreed / room - (1 - self.observed) * by_chance / room**2


class KappaDifference(NamedTuple):
    """The kappa of one scorer minus that of another on the same outputs, with its 95 % reach."""

    value: float
    reach: float

    @property
    def is_chance(self) -> bool:
        """Whether the two kappas cannot be told apart by these outputs."""
        return abs(self.value) <= self.reach + _TINY


Triple = tuple[bool, bool, bool]  # the first scorer's verdict, the second's, people's


def kappa_difference(counts: Counter[Triple]) -> KappaDifference | None:
    """By the delta method over outputs that both scorers judged; None where a kappa is undefined.

    Paired: outputs on which both scorers agree hardly add to the reach.
    """
    tables = [_marginal(counts, which) for which in (0, 1)]
    one, other = (_Kappa.of(table) for table in tables)
    if one is None or other is None:
        return None
    spread = fsum(
        count * (one.influence(first, people) - other.influence(second, people)) ** 2
        for (first, second, people), count in counts.items()
    )
    return KappaDifference(one.value - other.value, Z * sqrt(spread) / tables[0].n)


def _marginal(counts: Counter[Triple], which: int) -> VerdictTable:
    sums: Counter[tuple[bool, bool]] = Counter()
    for triple, count in counts.items():
        sums[triple[which], triple[2]] += count
    return VerdictTable(*(sums[cell] for cell in _CELLS))


class ScoredLabel(NamedTuple):
    """A score with people's verdict. A `refused` output fails at any threshold, such as one that is
    no JSON.
    """

    score: float
    passed_by_people: bool
    is_refused: bool = False


def table_at(labels: Iterable[ScoredLabel], threshold: float) -> VerdictTable:
    """The verdicts at a threshold against people's."""
    return verdict_table(
        (each.score >= threshold and not each.is_refused, each.passed_by_people) for each in labels
    )


class BestThreshold(NamedTuple):
    """The threshold with the highest kappa: the lowest such score that occurs.

    `as_good` spans the thresholds, above its lower end up to its upper one, whose kappa these
    outputs cannot tell from the best with 95 % confidence. It leaves no gaps for single worse ones
    in between: the best of many noisy kappas beats its neighbours by chance.
    """

    threshold: float
    kappa: float
    table: VerdictTable
    as_good: Interval

    def includes(self, threshold: float) -> bool:
        """Whether the threshold is among those that are as good."""
        low, high = self.as_good
        return low < threshold <= high


def best_threshold(labels: Collection[ScoredLabel]) -> BestThreshold | None:
    """None where kappa is above 0 at no threshold: no score, one verdict of all people, or a
    scorer that knows nothing of it.
    """
    cuts = list(tables_by_threshold(labels))
    kappas = [_Kappa.of(cut.table) for cut in cuts]
    values = [0.0 if kappa is None else kappa.value for kappa in kappas]
    best = max(range(len(cuts)), key=lambda index: values[index], default=None)
    if best is None or values[best] <= _TINY:
        return None
    best = next(index for index, value in enumerate(values) if value >= values[best] - _TINY)
    good = [index for index, cut in enumerate(cuts) if _is_as_good(cut.table, cuts[best].table)]
    below = cuts[good[0] - 1].threshold if good[0] else 0.0
    as_good = (below, cuts[good[-1]].threshold)
    return BestThreshold(cuts[best].threshold, values[best], cuts[best].table, as_good)


class ThresholdTable(NamedTuple):
    """The verdicts against people's at a threshold."""

    threshold: float
    table: VerdictTable


def tables_by_threshold(labels: Collection[ScoredLabel]) -> Iterator[ThresholdTable]:
    """The tables of all scores that occur above 0 as thresholds, the lowest first.

    A table holds from the threshold before up to its own.
    """
    positives = sum(label.passed_by_people for label in labels)
    negatives = len(labels) - positives
    judged = sorted(label for label in labels if not label.is_refused)
    right = sum(label.passed_by_people for label in judged)  # passed by both
    wrong = len(judged) - right  # passed by the scorer alone
    for score, group in groupby(judged, key=lambda label: label.score):
        if score > 0:
            yield ThresholdTable(
                score, VerdictTable(right, wrong, positives - right, negatives - wrong)
            )
        for label in group:
            right -= label.passed_by_people
            wrong -= not label.passed_by_people


def _is_as_good(table: VerdictTable, best: VerdictTable) -> bool:
    """Whether kappa differs from the best by no more than chance, for two thresholds."""
    difference = kappa_difference(_nested_counts(best, table))
    return difference is not None and difference.is_chance


def _nested_counts(one: VerdictTable, other: VerdictTable) -> Counter[Triple]:
    """The outputs by both verdicts and people's: the lower threshold passes all that the higher
    one does.
    """
    counts: Counter[Triple] = Counter()
    positives = one.both_pass + one.only_people_pass
    negatives = one.only_scorer_passes + one.both_fail
    columns = (
        (True, one.both_pass, other.both_pass, positives),
        (False, one.only_scorer_passes, other.only_scorer_passes, negatives),
    )
    for people, first, second, total in columns:
        counts[True, True, people] = min(first, second)
        counts[True, False, people] = max(first - second, 0)
        counts[False, True, people] = max(second - first, 0)
        counts[False, False, people] = total - max(first, second)
    return counts


def fleiss_kappa(counts: Iterable[tuple[int, int]]) -> float | None:
    """The agreement of several people beyond chance, from how many passed and failed each output.

    Outputs with one verdict count for nothing. Outputs may have different numbers of verdicts: each
    output's share of agreeing pairs weighs the same, and chance follows all verdicts; with equal
    numbers this is J. L. Fleiss, Measuring nominal scale agreement among many raters, Psychological
    Bulletin 76 (1971). None without such outputs, or where all verdicts are the same.
    """
    rated, passed, total = _rate(counts)
    if passed in (0, total):
        return None
    observed = fsum(map(_agreeing_pairs, rated)) / len(rated)
    rate = passed / total
    by_chance = rate**2 + (1 - rate) ** 2
    return (observed - by_chance) / (1 - by_chance)


def krippendorff_alpha(counts: Iterable[tuple[int, int]]) -> float | None:
    """The agreement of several people beyond chance, from how many passed and failed each output.

    Unlike `fleiss_kappa` it weighs each verdict the same, so that people may miss outputs, and
    corrects chance for few verdicts: K. Krippendorff, Computing Krippendorff's alpha-reliability
    (2011), for nominal data. None without an output of two verdicts, or where all are the same.
    """
    rated, passed, total = _rate(counts)
    if passed in (0, total):
        return None
    opposed = fsum(passes * fails / (passes + fails - 1) for passes, fails in rated)
    return 1 - (total - 1) * opposed / (passed * (total - passed))


def _rate(counts: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], int, int]:
    """The outputs with several verdicts, how many of these verdicts are passes, and all of them."""
    rated = [each for each in counts if sum(each) > 1]
    return rated, sum(passes for passes, _ in rated), sum(map(sum, rated))


def _agreeing_pairs(each: Sequence[int]) -> float:
    n = sum(each)
    return sum(count * (count - 1) for count in each) / (n * (n - 1))
