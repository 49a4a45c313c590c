"""Gates in words: the line that commands print, and the figure a gate limits."""

from __future__ import annotations

from typing import Final

from scoring.core.wording.comparison import p_text
from scoring.core.wording.numbers import short_text
from scoring.engine.compare.gates import NO_REGRESSION, GateOutcome

SHOWN_DECIMALS: Final = 6  # of what a gate looked at


def outcome_text(outcome: GateOutcome) -> str:
    """Such as "gate pass_rate>=0.9 (0.85) failed", and why where that is to be said."""
    value = f" ({text})" if (text := value_text(outcome)) else ""
    why = f": {outcome.explanation}" if outcome.explanation else ""
    return f"gate {outcome.gate.text}{value} {outcome.state}{why}"


def value_text(outcome: GateOutcome) -> str:
    """The figure that the gate limits; empty if there is none."""
    if outcome.value is None:
        return ""
    if outcome.gate.metric == NO_REGRESSION:
        return p_text(outcome.value)
    return short_text(outcome.value, SHOWN_DECIMALS, outcome.gate.limit)
