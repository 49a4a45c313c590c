from __future__ import annotations

import pytest

from scoring.core.wording.numbers import to_ascii
from scoring.core.wording.thresholds import PassCounts, case_verdicts_sentence, change_sentence


@pytest.mark.parametrize(
    ("old", "new", "counts", "sentence"),
    [
        (
            0.9,
            0.8,
            PassCounts(200, 163, 175),
            "At 0.8 instead of 0.9, 12 of 200 cases of w46 would pass instead of fail; the pass "
            "rate changes from 81.5 % to 87.5 %.",
        ),
        (
            0.5,
            0.9,
            PassCounts(1, 1, 0),
            "At 0.9 instead of 0.5, 1 of 1 case of w46 would fail instead of pass; the pass "
            "rate changes from 100.0 % to 0.0 %.",
        ),
        (
            0.5,
            0.6,
            PassCounts(4, 2, 2),
            "At 0.6 instead of 0.5, no case of w46 would change; the pass rate stays 50.0 %.",
        ),
        (0.5, 0.5, PassCounts(4, 3, 3), "At 0.5, 3 of 4 cases of w46 pass: 75.0 %."),
        (0.5, 0.6, PassCounts(0, 0, 0), "No case of w46 has a score."),
    ],
)
def test_the_change_in_a_sentence(
    old: float, new: float, counts: PassCounts, sentence: str
) -> None:
    assert to_ascii(change_sentence("w46", old, new, counts)) == sentence


def test_a_small_step_never_reads_as_no_step() -> None:
    counts = PassCounts(100_000, 81_500, 81_501)
    assert "pass rate changes from 81.500 % to 81.501 %" in to_ascii(
        change_sentence("w46", 0.9, 0.8, counts)
    )


def test_counts_say_which_way_cases_flip() -> None:
    assert (PassCounts(9, 2, 5).to_pass, PassCounts(9, 2, 5).to_fail) == (3, 0)
    assert (PassCounts(9, 5, 2).to_pass, PassCounts(9, 5, 2).to_fail) == (0, 3)
    assert PassCounts(0, 0, 0).rate_before is None


@pytest.mark.parametrize(
    ("changed", "flips", "sentence"),
    [
        (0, 0, ""),
        (0, 3, "No case verdict changes: other scorers fail these cases."),
        (1, 1, "Its case verdict changes."),
        (3, 3, "All their case verdicts change."),
        (1, 3, "1 case verdict changes; the others also fail another scorer."),
        (1200, 3000, "1,200 case verdicts change; the others also fail another scorer."),
    ],
)
def test_case_verdicts_in_a_sentence(changed: int, flips: int, sentence: str) -> None:
    assert case_verdicts_sentence(changed, flips) == sentence
