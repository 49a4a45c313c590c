"""Wins, ties and losses, and the share of wins with its interval."""

from __future__ import annotations

import pytest

from scoring.core.stats.preferences import WinCounts, count_wins


def test_a_pair_counts_once_by_the_side_with_more_judgements() -> None:
    counts = count_wins([(2, 3), (1, 1), (0, 2), (0, 1), (-1, 3)])
    assert counts == WinCounts(wins=2, ties=2, losses=1, judgements=10)
    assert (counts.pairs, counts.decided) == (5, 3)


def test_ties_move_neither_the_share_nor_its_interval() -> None:
    """Wilson's interval of 15 of 20, as R's prop.test(15, 20, correct = FALSE) gives it."""
    share = WinCounts(15, 0, 5, 20).share
    assert share is not None
    assert share.interval is not None
    assert share.value == 0.75
    assert share.interval == (
        pytest.approx(0.5312995, abs=1e-6),
        pytest.approx(0.8881383, abs=1e-6),
    )
    assert WinCounts(15, 400, 5, 420).share == share


def test_ties_alone_have_no_share() -> None:
    assert count_wins([(0, 1)]).share is None
    assert count_wins([]).pairs == 0
