"""The claims of a comparison, and their p-values corrected as one family.

A family holds every claim that one page, file or answer makes: for each pair of runs and each
scorer that its mean changed and that its verdicts flipped unevenly, that the cases' verdicts
flipped unevenly, and that some slice changed. Holm's correction keeps the chance of any false claim
of the family at the level, whatever the claims' dependence. A slice is named only if "some slice
changed" is rejected, and then by Benjamini and Hochberg at the level at which Holm tested that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scoring.core.stats.paired_tests import benjamini_hochberg, holm, holm_factors


class ScorerTests(NamedTuple):
    """The p of a scorer's mean and of its flips, None where there is nothing to test.

    `is_one_claim`: its scores are its verdicts, 1 for a pass and 0 for a fail, so that both test
    the same thing, which counts once.
    """

    mean: float | None
    flips: float | None
    is_one_claim: bool = False


class PairTests(NamedTuple):
    """What is tested of two runs; `slices` are the p of every slice.

    `has_one_scorer`: both runs have the same scorer and no other, whose verdicts are the cases'.
    """

    scorers: Sequence[ScorerTests]
    cases: float | None
    slices: Sequence[float]
    has_one_scorer: bool = False


class CorrectedScorer(NamedTuple):
    mean: float | None
    flips: float | None


class CorrectedPair(NamedTuple):
    """The same claims, each p corrected; a claim is significant where that is at most 0.05.

    `any_slice` is that of "some slice changed", None without slices. `slices` are never below it.
    """

    scorers: Sequence[CorrectedScorer]
    cases: float | None
    any_slice: float | None
    slices: Sequence[float]


class Family(NamedTuple):
    """Pairs in the order in which they were given, and how many claims were corrected for."""

    pairs: Sequence[CorrectedPair]
    size: int


def simes_p(ps: Sequence[float]) -> float:
    """The p of "at least one of them is no chance".

    R. J. Simes, An improved Bonferroni procedure for multiple tests of significance, Biometrika 73
    (1986): the smallest p after the correction by Benjamini and Hochberg.
    """
    return min(benjamini_hochberg(ps))


def correct_family(pairs: Sequence[PairTests]) -> Family:
    """All claims of these pairs as one family."""
    ps = {key: p for number, pair in enumerate(pairs) for key, p in _claims(number, pair)}
    values = list(ps.values())
    corrected = dict(zip(ps, holm(values), strict=True))
    factors = dict(zip(ps, holm_factors(values), strict=True))
    return Family(
        [_correct_pair(number, pair, corrected, factors) for number, pair in enumerate(pairs)],
        len(ps),
    )


_Key = tuple[int, str, int]  # the pair's number, the claim's kind, the scorer's number


def _claims(number: int, pair: PairTests) -> Iterator[tuple[_Key, float]]:
    """The claims that were tested, each once."""
    for index, scorer in enumerate(pair.scorers):
        if scorer.flips is not None:
            yield (number, "flips", index), scorer.flips
        if scorer.mean is not None and not scorer.is_one_claim:
            yield (number, "mean", index), scorer.mean
    if pair.cases is not None and not _are_cases_the_scorers(pair):
        yield (number, "cases", 0), pair.cases
    if pair.slices:
        yield (number, "slices", 0), simes_p(pair.slices)


def _are_cases_the_scorers(pair: PairTests) -> bool:
    return pair.has_one_scorer and pair.scorers[0].flips == pair.cases


def _correct_pair(
    number: int, pair: PairTests, corrected: dict[_Key, float], factors: dict[_Key, int]
) -> CorrectedPair:
    scorers = []
    for index, scorer in enumerate(pair.scorers):
        flips = corrected.get((number, "flips", index))
        mean = flips if scorer.is_one_claim else corrected.get((number, "mean", index))
        scorers.append(CorrectedScorer(mean, flips))
    is_same = _are_cases_the_scorers(pair)
    cases = scorers[0].flips if is_same else corrected.get((number, "cases", 0))
    any_slice = corrected.get((number, "slices", 0))
    if any_slice is None:
        return CorrectedPair(scorers, cases, None, [])
    factor = factors[number, "slices", 0]
    qs = [min(1.0, max(any_slice, q * factor)) for q in benjamini_hochberg(pair.slices)]
    return CorrectedPair(scorers, cases, any_slice, qs)
