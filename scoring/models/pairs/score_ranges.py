"""Conditions on the scores of pairs: the cases behind a dot or a bar of a chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.core.charts.comparison_charts import ScoreRange
from scoring.models.pairs.rows import ScoreRanges
from scoring.models.pairs.sql import SCORE_DIGITS, SCORER_OF, over_trials, rounded
from scoring.models.runs.score import Score

CHANGE_DIGITS: Final = 12  # 0.8 - 0.7 and 0.9 - 0.8 are the same change

_SCORES = Score._meta.db_table


def range_condition(ranges: ScoreRanges, *, has_trials: bool) -> tuple[str, dict[str, Any]]:
    """What the ranges ask of a pair with the rows `b` and `c`, beginning with AND, and its values.

    With `has_trials` a case may have several trials in either run, of which the mean counts.
    """
    if not any(ranges):
        return "", {}
    values = dict(_values(ranges))
    if has_trials:
        return f" AND {_over_trials(ranges)}", values
    condition = "".join(f" AND {side}" for side in _of_sides(ranges))
    if ranges.change:
        condition += f" AND EXISTS ({_changed(ranges.change)})"
    return condition, values


def _of_sides(ranges: ScoreRanges) -> Iterator[str]:
    """Both sides by the index on scores, which holds their outputs."""
    for side, name, span in (("b", "was", ranges.was), ("c", "now", ranges.now)):
        if span:
            scored = _is_score("s.score", name, span)
            rows = f"{_SCORES} s WHERE s.scorer_id = ({SCORER_OF}%({side}_run)s) AND {scored}"
            yield f"{side}.output_id IN (SELECT s.output_id FROM {rows})"  # noqa: S608


def _changed(span: ScoreRange) -> str:
    change = rounded("cs.score - bs.score", CHANGE_DIGITS)
    return f"SELECT 1 FROM {_both('b', 'c')} AND {_is_change(change, span)}"  # noqa: S608


def _over_trials(ranges: ScoreRanges) -> str:
    """The means over the trials that have a score, of each run its own."""
    was, now = (over_trials(side, "AVG(s.score)") for side in "bc")
    conditions = [
        *([_is_score(rounded(was, SCORE_DIGITS), "was", ranges.was)] if ranges.was else []),
        *([_is_score(rounded(now, SCORE_DIGITS), "now", ranges.now)] if ranges.now else []),
        *(
            [_is_change(rounded(f"{now} - {was}", CHANGE_DIGITS), ranges.change)]
            if ranges.change
            else []
        ),
    ]
    return " AND ".join(conditions)


def _both(before: str, after: str) -> str:
    """FROM and WHERE of the scores of two rows of verdicts, where both have one."""
    return (
        f"{_SCORES} bs, {_SCORES} cs WHERE bs.scorer_id = ({SCORER_OF}%(b_run)s) "
        f"AND bs.output_id = {before}.output_id AND bs.score IS NOT NULL "
        f"AND cs.scorer_id = ({SCORER_OF}%(c_run)s) "
        f"AND cs.output_id = {after}.output_id AND cs.score IS NOT NULL"
    )


def _is_score(value: str, name: str, span: ScoreRange) -> str:
    high = "<=" if span.high >= 1 else "<"
    return f"{value} >= %({name}_low)s AND {value} {high} %({name}_high)s"


def _is_change(value: str, span: ScoreRange) -> str:
    low = ">=" if span.low > 0 or span.low <= -1 else ">"
    high = "<=" if span.high < 0 or span.high >= 1 else "<"
    return f"{value} {low} %(change_low)s AND {value} {high} %(change_high)s"


def _values(ranges: ScoreRanges) -> Iterator[tuple[str, float]]:
    for name, span in ranges._asdict().items():
        if span:
            yield f"{name}_low", span.low
            yield f"{name}_high", span.high
