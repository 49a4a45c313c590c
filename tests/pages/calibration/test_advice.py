"""What more reviews would give, in sentences."""

from __future__ import annotations

import pytest

from evalsite.pages.calibration.advice import advise
from scoring.core.stats.calibration import VerdictTable
from scoring.engine.calibration.sample import CorrectedPassRate


@pytest.mark.parametrize(
    ("labelled", "others", "text"),
    [
        ((0, 0, 0, 0), (500, 500), "Review at least 50 more outputs, drawn at random, to"),
        ((20, 9, 10, 10), (500, 500), "Review at least 1 more output, drawn at random, to"),
        ((90, 2, 8, 2), (500, 500), "Too few outputs of one verdict: review at least 1 more"),
        ((40, 10, 5, 45), (20, 20), "The run has too few outputs for a margin of"),
        ((40, 10, 5, 45), (500, 500), "Review 135 more outputs, drawn at random, for a margin"),
        ((400, 20, 30, 450), (5_000, 5_000), ""),
    ],
)  # fmt: skip
def test_each_state_has_its_sentence(
    labelled: tuple[int, int, int, int], others: tuple[int, int], text: str
) -> None:
    said = advise(CorrectedPassRate(VerdictTable(*labelled), others))
    assert said.startswith(text) if text else not said
