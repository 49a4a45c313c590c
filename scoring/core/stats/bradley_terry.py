"""Strengths of several candidates from the pairs that one of them won.

R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs: the method of paired
comparisons, Biometrika 39 (1952), 324-345: a candidate of strength s wins over one of strength t
with the probability 1 / (1 + exp(t - s)). Ties are left out, as in `preferences.WinCounts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, sqrt
from statistics import NormalDist
from typing import Final

from scoring.core.stats.descriptive import LEVEL, Estimate

MIN_DECIDED: Final = 10  # pairs of a candidate; below this nothing is said of it
_MAX_STEPS: Final = 100
_CLOSE: Final = 1e-12

#: By winner and loser, how many pairs the one won over the other.
Wins = Mapping[tuple[str, str], int]


class Unranked(StrEnum):
    """Why a candidate has no strength."""

    TOO_FEW = "too few"
    NEVER_MET = "never met"
    ALL_WON = "won all"
    ALL_LOST = "lost all"
    ONE_SIDED = "one-sided"  # between it and each other, one of the two has won all


@dataclass(frozen=True)
class Strength:
    """A candidate with all its decided pairs.

    `share` is the probability to win over a candidate of their mean strength; None where there is
    no estimate, for the reason `unranked`.
    """

    name: str
    wins: int
    losses: int
    share: Estimate | None = None
    unranked: Unranked | None = None

    @property
    def decided(self) -> int:
        return self.wins + self.losses


def rank(names: Collection[str], wins: Wins) -> list[Strength]:
    """The strongest first, then those without an estimate by name.

    Estimates exist where each of two parts of the candidates, however they are parted, has won over
    the other one (L. R. Ford Jr., Solution of a ranking problem from binary comparisons, American
    Mathematical Monthly 64 (1957), 28-33). So the largest group in which that holds is ranked.
    """
    counts = {name: _count(name, wins) for name in names}
    enough = {name for name, counted in counts.items() if sum(counted) >= MIN_DECIDED}
    groups = _groups(enough, wins)
    group = max(groups, key=lambda each: (len(each), sorted(each)), default=set[str]())
    ranked = sorted(group) if len(group) > 1 else []
    shares = dict(zip(ranked, _estimate(ranked, wins), strict=True)) if ranked else {}
    found = []
    for name, (won, lost) in counts.items():
        why = None if name in shares else _cause(name, enough, ranked, wins)
        found.append(Strength(name, won, lost, shares.get(name), why))
    return sorted(found, key=lambda each: (-(each.share.value if each.share else -1), each.name))


def _count(name: str, wins: Wins) -> tuple[int, int]:
    """The pairs that the candidate won and lost."""
    won = sum(number for (winner, _), number in wins.items() if winner == name)
    return won, sum(number for (_, loser), number in wins.items() if loser == name)


def _cause(name: str, enough: Collection[str], ranked: Sequence[str], wins: Wins) -> Unranked:
    if name not in enough:
        return Unranked.TOO_FEW
    against = [other for other in (ranked or enough) if other != name]
    won = any(wins.get((name, other)) for other in against)
    lost = any(wins.get((other, name)) for other in against)
    if won and lost:
        return Unranked.ONE_SIDED
    if won or lost:
        return Unranked.ALL_WON if won else Unranked.ALL_LOST
    return Unranked.NEVER_MET


def _groups(names: Collection[str], wins: Wins) -> list[set[str]]:
    """The candidates in groups of which each has won over each other, if through others."""
    beaten = {name: {other for other in names if wins.get((name, other))} for name in names}
    reach = {name: _reach(name, beaten) for name in names}
    return [
        {other for other in names if other in reach[name] and name in reach[other]} | {name}
        for name in sorted(names)
    ]


def _reach(name: str, beaten: Mapping[str, Collection[str]]) -> set[str]:
    """Whom the candidate has beaten, and whom these have, and so on."""
    found: set[str] = set()
    left = [name]
    while left:
        for other in beaten.get(left.pop(), ()):
            if other not in found:
                found.add(other)
                left.append(other)
    return found


def _estimate(names: Sequence[str], wins: Wins) -> list[Estimate]:
    """The likeliest strengths as shares, with Wald intervals of the strengths.

    By Newton's method, with strengths whose mean is zero: the covariance is the pseudo-inverse of
    the information matrix.
    """
    import numpy as np

    won = np.array([[wins.get((one, other), 0) for other in names] for one in names], float)
    met = won + won.T
    strengths = np.zeros(len(names))
    for _ in range(_MAX_STEPS):
        chances = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        gradient = (won - met * chances).sum(axis=1)
        weights = met * chances * (1 - chances)
        information = np.diag(weights.sum(axis=1)) - weights
        covariance = np.linalg.pinv(information)
        step = covariance @ gradient
        strengths += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < _CLOSE:
            break
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    reaches = [z * sqrt(max(0.0, variance)) for variance in np.diag(covariance)]
    return [
        Estimate(_share(strength), (_share(strength - reach), _share(strength + reach)))
        for strength, reach in zip(map(float, strengths), reaches, strict=True)
    ]


def _share(strength: float) -> float:
    """The probability to win over a candidate of strength zero."""
    return 1 / (1 + exp(-strength))
