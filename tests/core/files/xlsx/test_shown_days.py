"""Days and times as Excel shows them in English."""

from __future__ import annotations

import pytest

from scoring.core.files.xlsx.shown_numbers import compile_format, show_number

SHOWN = [
    ("mm/dd/yyyy", "45657", "12/31/2024"),
    ("[$-409]d-mmm-yy", "45657", "31-Dec-24"),
    ("dddd, mmmm d", "45657", "Tuesday, December 31"),
    ("d mmm yyyy h:mm AM/PM", "45657.6041666667", "31 Dec 2024 2:30 PM"),
    ("h AM/PM", "0", "12 AM"),
    ("h A/P", "0.5", "12 P"),
    ("hh:mm", "0.6041666666666666", "14:30"),
    ("h:mm:ss.00", "0.60416672", "14:30:00.00"),
    ("mm:ss.0", "0.00001", "00:00.9"),
    ("[h]:mm", "1.5", "36:00"),
    ("[mm]:ss", "0.05", "72:00"),
]


@pytest.mark.parametrize(("code", "value", "text"), SHOWN)
def test_days_are_shown_as_excel_shows_them(code: str, value: str, text: str) -> None:
    formatter = compile_format(code)
    assert formatter is not None
    assert show_number(value, formatter) == text


@pytest.mark.parametrize("value", ["-1", "2958466", "1e15"])
def test_days_outside_of_the_calendar_are_not_shown(value: str) -> None:
    show = compile_format("yyyy")
    assert show is not None
    assert show_number(value, show) in (None, "-1900")
