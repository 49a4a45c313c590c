"""Cells that a spreadsheet would run as formulas."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from scoring.core.files import Row, Source, detect_format, read_rows
from scoring.core.files.writers import csv_lines


def values_of(content: bytes, name: str = "rows.jsonl") -> list[Any]:
    source = Source(BytesIO(content), name)
    return [row.fields for row in read_rows(source, detect_format(source)) if isinstance(row, Row)]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["'=1", "x", '["a"]'], ["=1", "x"]),
        (["'=1", "'-2", '["b"]'], ["'=1", "-2"]),
        (["=1", "x", '["a"]'], ["=1", "x"]),  # somebody has removed the mark
        (["'x", "x", '["a"]'], ["'x", "x"]),  # or written another text
        (["'=1", "x", ""], ["'=1", "x"]),  # a row of somebody's own
        (["'=1", "x", "a"], ["'=1", "x"]),
        (["'=1", "x", '[1, "c"]'], ["'=1", "x"]),
        (["'=1", "x", "7"], ["'=1", "x"]),
    ],
)
def test_marks_are_taken_off_where_the_row_tells_of_them(cells: list[str], read: list[str]) -> None:
    content = b"".join(csv_lines(["a", "b", "_marked"], [cells], is_verbatim=True))
    source = Source(BytesIO(content), "a.csv")
    found = detect_format(source)
    assert found.columns == ("a", "b")
    assert values_of(content, "a.csv") == [dict(zip("ab", read, strict=True))]
