"""What an exported list says of a run is told from what it says of its cases."""

from __future__ import annotations

import pytest

from scoring.core.files import guess_mapping
from scoring.core.files.columns.exported_scores import SCORE_COLUMNS, exported_scores

SCORES = [f"exact match {part}" for part in SCORE_COLUMNS]


@pytest.mark.parametrize(
    ("columns", "scores"),
    [
        (["key", "trial", "verdict", "input", *SCORES], ["verdict", *SCORES]),
        (["key", "input", "output", *SCORES], SCORES),
        (["key", "verdict", "scores", "input"], ["verdict", "scores"]),
        (["key", "input", "verdict"], []),
        (["key", "input", "scores"], []),
        (["id", "verdict", "input", *SCORES], []),
        (["key", "input", "exact match status", "exact match score"], []),
        (["key", "input", "status", "score", "verdict", "code"], []),
        ([], []),
    ],
)
def test_only_the_columns_of_an_export_are_found(columns: list[str], scores: list[str]) -> None:
    assert exported_scores(columns) == scores


def test_a_guess_drops_them_and_a_choice_keeps_them() -> None:
    columns = ["key", "verdict", "input", *SCORES]
    assert guess_mapping(columns).drop == ("verdict", *SCORES)
    assert guess_mapping(columns, choices={"drop": []}).drop == ()
    chosen = guess_mapping(columns, choices={"expected": ["verdict"]})
    assert (chosen.expected, chosen.drop) == ("verdict", tuple(SCORES))
