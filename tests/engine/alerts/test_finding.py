"""What is said of a figure beside its limit, and of runs that say too little."""

from __future__ import annotations

import pytest

from scoring.engine.alerts.finding import (
    TOLERANCE,
    below_finding,
    count_judged,
    silent_finding,
    too_many_unscored,
    undecided_finding,
)
from scoring.models import Run, WatchState

RUN = Run(name="w1", pass_count=3, fail_count=1, error_count=5)


def plain(sentence: str) -> str:
    """With ~ for the space that keeps a number and its sign together."""
    return sentence.replace("\u202f", "~")


@pytest.mark.parametrize(
    ("value", "counts", "is_share", "state", "sentence"),
    [
        (0.7, (20, 20), True, "firing", "The rate is 70.0~% in w1 (n = 20), below 80~%."),
        (
            0.8,
            (20, 20),
            True,
            "fine",
            "The rate is 80.0~% in w1 (n = 20), not below 80~%.",
        ),
        (
            0.8 - TOLERANCE / 2,
            (9, 9),
            False,
            "fine",
            "The rate is 0.8 in w1 (n = 9), not below 0.8.",
        ),
        (0.5, (9, 1_000), False, "firing", "The rate is 0.5 in w1 (n = 9 of 1,000), below 0.8."),
    ],
)
def test_a_figure_fires_below_its_limit_and_not_at_it(
    value: float, counts: tuple[int, int], is_share: bool, state: str, sentence: str
) -> None:
    found = below_finding("The rate", RUN, value, 0.8, counts, is_share=is_share)
    assert (found.state, plain(found.sentence)) == (state, sentence)
    assert (found.run, found.value, found.limit) == (RUN, value, 0.8)


@pytest.mark.parametrize(
    ("n", "unscored", "said"),
    [
        (0, 0, "Nothing was scored in w1."),
        (100, 5, ""),
        (
            100,
            6,
            "6 of 100 cases of w1 have no output, have an error or were skipped, over 5~%.",
        ),
    ],
)
def test_too_many_cases_without_a_figure_are_named(n: int, unscored: int, said: str) -> None:
    assert plain(too_many_unscored(RUN, n, unscored)) == said


def test_a_run_without_a_figure_is_undecided_and_no_run_is_silent() -> None:
    assert undecided_finding("Why.", RUN).state == WatchState.UNDECIDED
    assert (silent_finding("Why.").state, silent_finding("Why.").run) == (WatchState.SILENT, None)


def test_cases_are_judged_where_they_passed_or_failed() -> None:
    assert count_judged(RUN) == (3, 4, 9)
    assert count_judged(Run(skipped_count=2)) == (0, 0, 2)
