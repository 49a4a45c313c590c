from __future__ import annotations

import pytest

from scoring.core.wording.numbers import to_ascii
from scoring.core.wording.thresholds import (
    PassCounts,
    VerdictChanges,
    agreement_sentence,
    case_verdicts_sentence,
    change_sentence,
    comparison_effect_sentence,
)


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


@pytest.mark.parametrize(
    ("kappas", "best", "sentence"),
    [
        (
            {0.7: 0.5, 0.8: 0.0},
            0.6,
            "People passed or failed 84 outputs: kappa 0.50 at 0.7, 0.00 at 0.8. "
            "Best at 0.6; as good: above 0.5 up to 0.75.",
        ),
        ({0.7: None, 0.8: None}, 0.6, "People passed or failed 84 outputs. Best at 0.6;"),
        ({0.7: -0.1}, None, "No threshold agrees with them better than chance."),
    ],
)
def test_agreement_is_said_at_both_thresholds_and_where_it_is_best(
    kappas: dict[float, float | None], best: float | None, sentence: str
) -> None:
    assert sentence in agreement_sentence(84, kappas, best, (0.5, 0.75))


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ((2, 1, False), (2, 1, False), "2 broke and 1 was fixed as scored, and nothing changes."),
        ((2, 0, True), (1_500, 0, True), "1,500 would have broken and 0 would be fixed. The drop"),
        ((9, 0, True), (2, 0, False), "The drop would no longer be statistically significant."),
        ((2, 0, False), (9, 0, True), "That would be a statistically significant drop."),
        ((2, 0, False), (3, 0, False), "Neither is a statistically significant drop."),
    ],
)
def test_what_becomes_of_a_comparison_is_said(
    before: tuple[int, int, bool], after: tuple[int, int, bool], sentence: str
) -> None:
    said = comparison_effect_sentence("w45", VerdictChanges(*before), VerdictChanges(*after))
    assert said.startswith("Against w45, ")
    assert sentence in said
