"""Ticks of an axis of dates: full hours, days, Mondays, months, quarters or years."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final, NamedTuple

MAX_TICKS: Final = 8

_HOURS: Final = (1, 3, 6, 12)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6)
_YEARS: Final = (1, 2, 5, 10, 20, 50, 100)


class DateTick(NamedTuple):
    at: datetime
    text: str


def date_ticks(first: datetime, last: datetime, most: int = MAX_TICKS) -> list[DateTick]:
    """At most `most` round dates from `first` to `last`, the finest that are few enough; at least
    one, which is `first` itself where no round date lies between.
    """
    for candidates in _candidates(first, last, most):
        upto_last = takewhile(lambda tick: tick.at <= last, candidates)
        ticks = list(islice((tick for tick in upto_last if tick.at >= first), most + 1))
        if 2 <= len(ticks) <= most:
            return ticks
    return [DateTick(first, _day(first))]


def _candidates(first: datetime, last: datetime, most: int) -> Iterator[Iterator[DateTick]]:
    """Ticks from the finest to the coarsest step that could be few enough."""
    span = last - first
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    for hours in _HOURS:
        if span / timedelta(hours=hours) <= most + 1:
            yield _steps(midnight, timedelta(hours=hours), _hour)
    for days in _DAYS:
        if span / timedelta(days=days) <= most + 1:
            back = midnight.weekday() if days % 7 == 0 else 0
            yield _steps(midnight - timedelta(days=back), timedelta(days=days), _day)
    for months in _MONTHS:
        yield _months(first, months)
    for years in _YEARS:
        yield _months(first, 12 * years)


def _steps(start: datetime, step: timedelta, text: Callable[[datetime], str]) -> Iterator[DateTick]:
    date = start
    while True:
        yield DateTick(date, text(date))
        try:
            date += step
        except OverflowError:
            return


def _months(first: datetime, step: int) -> Iterator[DateTick]:
    """The first days of every `step`-th month, counted from year 0."""
    start = (first.year * 12 + first.month - 1) // step * step
    midnight = first.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for month in range(start, 10_000 * 12, step):
        if month >= 12:
            date = midnight.replace(year=month // 12, month=month % 12 + 1)
            yield DateTick(date, f"{date:%Y}" if step % 12 == 0 else f"{date:%b %Y}")


def _hour(date: datetime) -> str:
    """A day begins with its name alone."""
    return f"{date.day} {date:%b %H:%M}" if date.hour else _day(date)


def _day(date: datetime) -> str:
    return f"{date.day} {date:%b}"
