"""Stored results of a line's runs, as far as they are up to date."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.drift.results import StoredResults, judged_runs


def stored(scorer: int, **changed: Any) -> StoredResults:
    """The results of a run after that of the scorer before it."""
    before = scorer - 1 if scorer > 1 else None
    result = StoredResults(scorer, scorer, scorer / 10, before, bool(before), 0, None, None)
    return result._replace(**changed)


@pytest.mark.parametrize(
    ("changed", "is_whole", "count"),
    [
        ({}, True, 4),
        ({"outcome": None}, True, 2),  # not judged yet
        ({"fresh": None}, True, 2),  # scored again
        ({"before": 1}, True, 2),  # judged before the run between them came
        ({"before": 1}, False, 2),
        ({"before": None}, True, 2),
    ],
)
def test_results_count_up_to_the_first_that_is_out_of_date(
    changed: dict[str, Any], is_whole: bool, count: int
) -> None:
    runs = [stored(1), stored(2), stored(3, **changed), stored(4)]
    found = judged_runs(runs, is_whole=is_whole)
    assert [decided.mean for decided in found] == [0.1, 0.2, 0.3, 0.4][:count]


@pytest.mark.parametrize(("is_whole", "count"), [(True, 0), (False, 2)])
def test_the_first_run_of_a_cut_line_may_follow_any_other(is_whole: bool, count: int) -> None:
    assert len(judged_runs([stored(7), stored(8)], is_whole=is_whole)) == count
