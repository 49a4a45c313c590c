"""The estimated cost of model calls, which forms show before they start a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scoring.core.services import ENVIRONMENT
from scoring.engine.estimates.scoring_estimate import CostEstimate


class CallEstimate(NamedTuple):
    """One kind of calls."""

    title: str
    estimate: CostEstimate


@dataclass(frozen=True)
class TotalCostEstimate:
    """The estimates of all kinds of calls that a run would make."""

    lines: Sequence[CallEstimate]

    @property
    def cost_usd(self) -> float | None:
        """None where a price is not known."""
        costs = [line.estimate.cost_usd for line in self.lines]
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def seconds(self) -> float:
        return sum(line.estimate.seconds for line in self.lines)

    @property
    def is_exact(self) -> bool:
        return all(line.estimate.is_exact for line in self.lines)

    @property
    def is_time_assumed(self) -> bool:
        return any(line.estimate.is_time_assumed for line in self.lines)

    @property
    def problems(self) -> Sequence[str]:
        """Why calls cannot be made, each once."""
        return list(dict.fromkeys(text for line in self.lines for text in line.estimate.problems))

    def unpriced(self) -> Iterator[str]:
        """What to do about each price that is not known."""
        found = dict.fromkeys(pair for line in self.lines for pair in line.estimate.unpriced)
        for model, connection in found:
            yield _unpriced(model, connection)


def combine_estimates(**estimates: CostEstimate) -> TotalCostEstimate | None:
    """By the names of the kinds of calls; None where there would be none."""
    lines = [
        CallEstimate(title, found) for title, found in estimates.items() if found != CostEstimate()
    ]
    return TotalCostEstimate(lines) if lines else None


def _unpriced(model: str, connection: str) -> str:
    if connection == ENVIRONMENT:
        return (
            f"The price of {model} is not known: the site's own endpoint has none. "
            "A connection of the team can name prices."
        )
    return (
        f"The price of {model} is not known. An administrator enters it in the connection "
        f"{connection}, 0 if it is free."
    )
