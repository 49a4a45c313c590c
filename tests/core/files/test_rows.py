"""Problems of rows, to be shown beside their line and column."""

from __future__ import annotations

import pytest

from scoring.core.files import RowProblem


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Line 1,200, column a: the cell is empty.", "The cell is empty."),
        ("Line 1,200: no cells.", "No cells."),
        ("Line 1,200 has 2 cells.", "Line 1,200 has 2 cells."),
    ],
)
def test_a_message_is_said_without_its_place(message: str, said: str) -> None:
    assert RowProblem(1_200, "a", "code", message).short_message == said
