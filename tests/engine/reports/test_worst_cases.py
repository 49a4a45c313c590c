"""Which cases are the worst."""

from __future__ import annotations

import pytest

from tests.engine.reports.test_run_report import Scored, scored, worst
from tests.support.finished_runs import Given

__all__ = ["scored"]


@pytest.mark.parametrize(
    ("close", "tone", "keys"),
    [
        ([1.0, 0.4, 0.1, 0.3], None, ["q2", "q3", "q1"]),
        ([0.4, 0.4, 0.4], None, ["q0", "q1", "q2"]),
        ([0.4, 0.3, 0.0], [0.0, 0.4, 1.0], ["q0", "q2", "q1"]),
        (["error", 0.4, 1.0], [1.0, 1.0, 1.0], ["q1", "q0"]),
        (["error", "error", 0.4], [0.5, 0.1, 1.0], ["q1", "q2", "q0"]),  # q1 fails by the other
        (["skip", 1.0], None, []),
    ],
)
def test_the_worst_come_first_and_errors_last(
    scored: Scored, close: list[Given], tone: list[Given] | None, keys: list[str]
) -> None:
    assert worst(scored(*close, **({"tone": tone} if tone else {}))) == keys
