"""What a series says under an alert rule."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from scoring.core.number_text import share_text, short_text, typed_share
from scoring.models import Run, WatchState

MOST_UNJUDGED: Final = 0.05  # of cases; above it a figure is not to be gone by, as with gates
SAME: Final = 1e-9  # a figure so near its limit is at it


class Finding(NamedTuple):
    """Fine, firing, undecided or silent, and why, in a sentence.

    `run` is the one that was looked at, None where runs are missing, `baseline` the one it was
    compared with, if any. `value` and `limit` are what was compared. Where nothing but time may
    change it, `look_at` says when to look again.
    """

    state: WatchState
    sentence: str
    run: Run | None = None
    value: float | None = None
    limit: float | None = None
    look_at: datetime | None = None
    baseline: Run | None = None


class Later(NamedTuple):
    """Nothing can be said yet; look again in so many seconds, or when the next run has ended."""

    seconds: float | None = None


def silent(why: str, run: Run | None = None) -> Finding:
    """There is nothing to go by, and nothing is wrong with that."""
    return Finding(WatchState.SILENT, why, run)


def undecided(why: str, run: Run) -> Finding:
    """There is a run, and its figure cannot be told."""
    return Finding(WatchState.UNDECIDED, why, run)


def below(
    words: str,
    run: Run,
    value: float,
    limit: float,
    told_of: tuple[int, int],
    *,
    is_share: bool = False,
) -> Finding:
    """Firing where the value is below the limit; a share is told in per cent.

    `words` name the value, `told_of` is of how many cases it tells and how many the run has.
    """
    is_below = value < limit - SAME
    state = WatchState.FIRING if is_below else WatchState.FINE
    n, total = told_of
    of = f" of {total:,}" if n != total else ""
    shown, shown_limit = short_text(value, limit=limit), f"{limit:g}"
    if is_share:
        shown, shown_limit = share_text(value, limit=limit), typed_share(limit)
    told = f"{words} is {shown} in {run.name} (n = {n:,}{of})"
    sentence = f"{told}, {'below' if is_below else 'not below'} {shown_limit}."
    return Finding(state, sentence, run, value, limit)


def unjudged(run: Run, n: int, unscored: int) -> str:
    """Why too many cases are without a figure; "" where enough have one."""
    if not n:
        return f"Nothing was scored in {run.name}."
    if unscored / n <= MOST_UNJUDGED:
        return ""
    share = f"over {typed_share(MOST_UNJUDGED)}"
    return f"{unscored:,} of {n:,} cases of {run.name} have an error or were skipped, {share}."
