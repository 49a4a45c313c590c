"""The limits of alert rules by kind, and their valid ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple


class LimitBounds(NamedTuple):
    """What a kind's limit may be, both ends included; `text` says it."""

    low: float
    high: float
    text: str
    is_whole: bool = False
    may_be_none: bool = False


MIN_LIMIT: Final = 1e-9
_SHARE: Final = "a number above 0 and up to 1"
#: By kind; a kind that is left out has no limit.
BOUNDS: Final[Mapping[str, LimitBounds]] = {
    "mean_below": LimitBounds(MIN_LIMIT, 1, _SHARE),
    "pass_rate_below": LimitBounds(MIN_LIMIT, 1, _SHARE),
    "drop": LimitBounds(MIN_LIMIT, 1, f"{_SHARE}, or nothing", may_be_none=True),
    "regressions": LimitBounds(0, 1_000_000, "a whole number of cases, 0 or more", is_whole=True),
    "no_data": LimitBounds(1, 365, "a whole number of days from 1 to 365", is_whole=True),
}


#: Kinds whose figure is better the higher it is; of the others a low one is.
HIGH_IS_GOOD: Final = frozenset({"mean_below", "pass_rate_below"})


def warning_problem(kind: str, limit: float | None, warning: float | None) -> str:
    """What is wrong with a limit that warns before the one that fires; "" where nothing is."""
    if warning is None:
        return ""
    if problem := limit_problem(kind, warning):
        return problem
    if limit is None:
        return "Only a rule with a limit can warn before it."
    if kind in HIGH_IS_GOOD:
        return "" if warning > limit else "A warning comes first: give more than the limit."
    return "" if warning < limit else "A warning comes first: give less than the limit."


def limit_problem(kind: str, limit: float | None) -> str:
    """What is wrong with the limit for this kind; "" where nothing is."""
    bounds = BOUNDS.get(kind)
    if bounds is None:
        return "" if limit is None else "This kind has no limit: leave it out."
    if limit is None:
        return "" if bounds.may_be_none else f"Give {bounds.text}."
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    fits = is_number and math.isfinite(limit) and bounds.low <= limit <= bounds.high
    if not fits or (bounds.is_whole and limit != int(limit)):
        return f"Give {bounds.text}."
    return ""
