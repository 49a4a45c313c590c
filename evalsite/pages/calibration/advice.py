"""What more reviews would give, in sentences."""

from __future__ import annotations

from scoring.core.stats.corrected_rate import MIN_LABELS
from scoring.engine.calibration.sample import TARGET_MARGIN, CorrectedPassRate


def advise(corrected: CorrectedPassRate) -> str:
    """How many more outputs to review, in a sentence; empty once the rate is known well."""
    points = f"±{100 * TARGET_MARGIN:.0f} points"
    if corrected.lacking:
        number = _more_outputs(corrected.lacking)
        if corrected.labelled.n >= MIN_LABELS:
            return f"Too few outputs of one verdict: review at least {number}."
        return f"Review at least {number}, drawn at random, to correct the rate."
    if corrected.more is None:
        return f"The run has too few outputs for a margin of {points}."
    if not corrected.more:
        return ""
    return f"Review {_more_outputs(corrected.more)}, drawn at random, for a margin of {points}."


def _more_outputs(number: int) -> str:
    return f"{number:,} more output{'' if number == 1 else 's'}"
