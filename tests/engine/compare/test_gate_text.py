"""Gates in words."""

from __future__ import annotations

import pytest

from scoring.engine.compare.gate_text import outcome_text, value_text
from scoring.engine.compare.gates import GateOutcome, State, parse_gate


@pytest.mark.parametrize(
    ("gate", "value", "text"),
    [
        ("pass_rate>=0.9", None, ""),
        ("pass_rate>=0.9", 0.85, "0.85"),
        ("pass_rate>=0.9", 2 / 3, "0.666667"),
        ("regressions<=0", 3, "3"),
        ("no_regression", 0.0002, "p < 0.001"),
    ],
)
def test_the_figure_that_a_gate_limits(gate: str, value: float | None, text: str) -> None:
    assert value_text(GateOutcome(parse_gate(gate), "failed", value)) == text


@pytest.mark.parametrize(
    ("state", "why", "cases", "text"),
    [
        ("failed", "", "", "gate pass_rate>=0.9 (0.85) failed"),
        (
            "undecided",
            "too many errors",
            "",
            "gate pass_rate>=0.9 (0.85) undecided: too many errors",
        ),
        ("undecided", "a", "b", "gate pass_rate>=0.9 (0.85) undecided: a; b"),
    ],
)
def test_the_line_of_a_gate(state: State, why: str, cases: str, text: str) -> None:
    outcome = GateOutcome(parse_gate("pass_rate>=0.9"), state, 0.85, why, cases=cases)
    assert outcome_text(outcome) == text
