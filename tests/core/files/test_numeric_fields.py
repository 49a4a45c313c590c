"""Numbers of rows: amounts and counts."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.files.numeric_fields import MAX_AMOUNT, MAX_COUNT, read_amount, read_count
from scoring.core.files.rows import MISSING, CellProblem


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        (MISSING, None),
        (None, None),
        ("", None),
        (" ", None),
        (0, 0.0),
        ("0", 0.0),
        (" 1.50 ", 1.5),
        ("+.5", 0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        (10**12, MAX_AMOUNT),
    ],
)
def test_amounts_are_read(value: Any, amount: float | None) -> None:
    assert read_amount(value, "n") == amount


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("fast", "not_a_number"),
        ("1,234", "not_a_number"),
        ("1_000", "not_a_number"),
        ("nan", "not_a_number"),
        ("inf", "not_a_number"),
        ("0x10", "not_a_number"),
        ("١٢", "not_a_number"),
        ("9" * 41, "not_a_number"),
        (True, "not_a_number"),
        ([], "not_a_number"),
        ("-1", "out_of_range"),
        (-0.5, "out_of_range"),
        ("1e400", "out_of_range"),
        ("1e999", "out_of_range"),
        (10**400, "out_of_range"),
        (1e13, "out_of_range"),
    ],
)
@pytest.mark.parametrize("read", [read_amount, read_count])
def test_other_values_are_problems(read: Any, value: Any, code: str) -> None:
    with pytest.raises(CellProblem) as caught:
        read(value, "n")
    assert (caught.value.column, caught.value.code) == ("n", code)


@pytest.mark.parametrize(("value", "count"), [("12.0", 12), (7, 7), (2**31 - 1, MAX_COUNT)])
def test_counts_are_whole(value: Any, count: int) -> None:
    assert read_count(value, "n") == count


@pytest.mark.parametrize("value", [2**31, "3.5", 1.5])
def test_counts_fit_the_database(value: Any) -> None:
    with pytest.raises(CellProblem, match=r"0 to 2,147,483,647"):
        read_count(value, "n")
