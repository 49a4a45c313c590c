"""The outcome of an alert rule on a series."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from scoring.core.wording.numbers import plain_share, share_text, short_count, short_text
from scoring.models import Run, WatchState
from scoring.models.runs.run import MAX_ERROR_SHARE

MAX_UNSCORED_SHARE: Final = MAX_ERROR_SHARE  # missing outputs and skips count, as with gates
TOLERANCE: Final = 1e-9  # a figure so near its limit is at it


class Finding(NamedTuple):
    """Fine, firing, undecided or silent, and why, in a sentence.

    `run` is the evaluated one, None where runs are missing, `baseline` the one it was compared
    with, if any. `value` and `limit` are what was compared. Where nothing but time may change it,
    `evaluate_at` says when to evaluate again.
    """

    state: WatchState
    sentence: str
    run: Run | None = None
    value: float | None = None
    limit: float | None = None
    evaluate_at: datetime | None = None
    baseline: Run | None = None


class EvaluateLater(NamedTuple):
    """Evaluate again in so many seconds, or when the next run has ended."""

    seconds: float | None = None


def silent_finding(why: str, run: Run | None = None) -> Finding:
    """There is nothing to evaluate, which is no fault."""
    return Finding(WatchState.SILENT, why, run)


def undecided_finding(why: str, run: Run) -> Finding:
    """There is a run without a usable figure."""
    return Finding(WatchState.UNDECIDED, why, run)


def below_finding(
    words: str,
    run: Run,
    value: float,
    limit: float,
    counts: tuple[int, int],
    *,
    is_share: bool = False,
) -> Finding:
    """Firing where the value is below the limit; a share is shown in per cent.

    `words` name the value; `counts` are the cases it was measured on, and those of the run.
    """
    n, total = counts
    state, relation = WatchState.FINE, "not below"
    if value < limit - TOLERANCE:
        state, relation = WatchState.FIRING, "below"
    shown, shown_limit = short_text(value, limit=limit), f"{limit:g}"
    if is_share:
        shown, shown_limit = share_text(value, limit=limit), plain_share(limit)
    of = f" of {total:,}" if n != total else ""
    sentence = f"{words} is {shown} in {run.name} (n = {n:,}{of}), {relation} {shown_limit}."
    return Finding(state, sentence, run, value, limit)


def too_many_unscored(run: Run, n: int, unscored: float) -> str:
    """Why too many cases are without a figure; "" where enough have one."""
    if not n:
        return f"Nothing was scored in {run.name}."
    if unscored / n <= MAX_UNSCORED_SHARE:
        return ""
    causes = "have no output, have an error or were skipped"
    over = plain_share(MAX_UNSCORED_SHARE)
    return f"{short_count(unscored)} of {n:,} cases of {run.name} {causes}, over {over}."


def count_judged(run: Run) -> tuple[int, int, int]:
    """How many cases passed, passed or failed, and are in the run's dataset version."""
    passed, failed = run.pass_count or 0, run.fail_count or 0
    return passed, passed + failed, run.expected_count
