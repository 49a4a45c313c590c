"""Whether a scorer agrees with people well enough to decide over releases."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from scoring.core.stats.calibration import VerdictTable
from scoring.core.stats.corrected_rate import MIN_LABELS

USUAL_KAPPA: Final = 0.6  # the lower bound asked for
MIN_TREND_LABELS: Final = 20


class Fitness(StrEnum):
    """What a scorer may be used for; each includes those before."""

    EXPLORING = "exploring"
    TREND = "trend"  # it agrees with people beyond chance
    GATING = "gating"


class FitnessFigures(NamedTuple):
    """What is known of a scorer: its verdicts against people's on outputs drawn at random.

    `missed` counts reviewed outputs, however they were chosen, with a severe failure that it
    passes. `limit` is the kappa that the lower bound of its interval is to reach.
    """

    table: VerdictTable
    missed: int
    limit: float = USUAL_KAPPA

    @property
    def labels(self) -> int:
        return self.table.n

    @property
    def lower_bound(self) -> float | None:
        """Of kappa, with 95 % confidence; None where it is not defined.

        Where agreement is complete, the standard error is no guide: then that kappa which the lower
        bound of the share of equal verdicts has at the same pass rates.
        """
        kappa, agreement = self.table.kappa, self.table.agreement
        if kappa is None or agreement is None:
            return None
        if kappa.interval is not None:
            return kappa.interval[0]
        if agreement.interval is None or self.table.agreed < self.table.n:
            return kappa.value
        rate = self.table.both_pass / self.table.n
        by_chance = rate**2 + (1 - rate) ** 2
        return (agreement.interval[0] - by_chance) / (1 - by_chance)

    @property
    def fitness(self) -> Fitness:
        if not self.lacking:
            return Fitness.GATING
        bound = self.lower_bound
        is_trend = self.labels >= MIN_TREND_LABELS and bound is not None and bound > 0
        return Fitness.TREND if is_trend else Fitness.EXPLORING

    @property
    def lacking(self) -> Sequence[str]:
        """What keeps it from gating, a sentence each; empty where nothing does."""
        found = []
        if self.labels < MIN_LABELS:
            more = MIN_LABELS - self.labels
            found.append(f"{more} more reviews of a random sample are needed ({MIN_LABELS}).")
        bound = self.lower_bound
        if self.labels and bound is None:
            found.append("Kappa is not defined: all verdicts are the same.")
        elif bound is not None and bound < self.limit:
            found.append(f"Kappa may be as low as {bound:.2f}; {self.limit:g} is asked for.")
        if self.missed:
            outputs = "output" if self.missed == 1 else "outputs"
            found.append(f"It passes {self.missed:,} {outputs} with a severe failure tag.")
        return found
