"""Ticks of an axis of dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.charts.date_axis import MAX_TICKS, date_ticks


def texts(first: str, last: str) -> list[str]:
    ends = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (first, last))
    return [tick.text for tick in date_ticks(*ends)]


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        ("2026-11-20T09:30", "2026-11-20T12:10", ["20 Nov 10:00", "20 Nov 11:00", "20 Nov 12:00"]),
        ("2026-11-20T09:30", "2026-11-23T08:00", ["20 Nov 12:00", "21 Nov", "21 Nov 12:00",
            "22 Nov", "22 Nov 12:00", "23 Nov"]),
        ("2026-11-16", "2026-11-20", ["16 Nov", "17 Nov", "18 Nov", "19 Nov", "20 Nov"]),
        # Weekly runs: Mondays.
        ("2026-11-02T09:00", "2026-12-07T09:00", ["9 Nov", "16 Nov", "23 Nov", "30 Nov", "7 Dec"]),
        ("2026-08-31T09:00", "2026-11-16T09:00", ["14 Sep", "28 Sep", "12 Oct", "26 Oct",
            "9 Nov"]),
        ("2025-12-20", "2026-05-10", ["Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026", "May 2026"]),
        ("2024-02-10", "2026-01-10", ["Apr 2024", "Jul 2024", "Oct 2024", "Jan 2025", "Apr 2025",
            "Jul 2025", "Oct 2025", "Jan 2026"]),
        ("2018-06-01", "2026-01-10", ["2019", "2020", "2021", "2022", "2023", "2024", "2025",
            "2026"]),
        ("1990-06-01", "2026-01-10", ["1995", "2000", "2005", "2010", "2015", "2020", "2025"]),
        ("2026-11-20", "2026-11-20", ["20 Nov"]),
    ],
)  # fmt: skip
def test_ticks_are_round_dates(first: str, last: str, ticks: list[str]) -> None:
    assert texts(first, last) == ticks


moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


@given(moments, moments)
def test_ticks_lie_in_order_between_the_ends_and_are_few(one: datetime, other: datetime) -> None:
    first, last = sorted((one, other))
    ticks = date_ticks(first, last)
    assert 1 <= len(ticks) <= MAX_TICKS
    assert all(first <= tick.at <= last for tick in ticks)
    assert [tick.at for tick in ticks] == sorted({tick.at for tick in ticks})


@given(moments, st.timedeltas(timedelta(minutes=125), timedelta(days=30_000)))
def test_a_span_of_more_than_two_hours_has_two_ticks_at_least(
    first: datetime, span: timedelta
) -> None:
    if first.year < 9000:
        assert len(date_ticks(first, first + span)) >= 2
