"""How many outputs a judge may be asked about again."""

from __future__ import annotations

import pytest

from evalsite.pages.calibration.forms import sample_sizes
from scoring.engine.judges import variance


@pytest.mark.parametrize(
    ("scored", "sizes"),
    [(2, [2]), (20, [20]), (21, [20, 21]), (200, [20, 50, 100, 200])],
)
def test_the_last_size_takes_all_of_few_outputs(scored: int, sizes: list[int]) -> None:
    assert sample_sizes(scored) == sizes


def test_no_check_takes_more_than_the_limit() -> None:
    assert max(sample_sizes(10 * variance.MAX_SAMPLE)) == variance.MAX_SAMPLE
