"""Drift lines as tables, as Markdown and as the API tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scoring.engine.drift.line import Line
from scoring.engine.drift.point import Point

HEAD: Final = (
    "run", "dated", "mean [95 %]", "pass rate", "n", "fixed", "broke", "like", "changed",
)  # fmt: skip
_NONE: Final = "-"


def as_json(line: Line) -> dict[str, Any]:
    """The line in the API's shape; a figure that is not there is None."""
    baseline = line.baseline
    return {
        "scorer": line.scorer,
        "series": line.series,
        "baseline": baseline.run if baseline else None,
        "points": [_point_json(point) for point in line.points],
        "change_points": [
            {"run": line.points[change.place].run, **_without_place(change._asdict())}
            for change in line.changes
        ],
        "limits": line.limits._asdict() if line.limits else None,
        "limits_reason": line.limits_reason,
        "outside": [line.points[each.place].run for each in line.outside],
        "sentences": line.sentences,
        "is_measured": line.is_measured,
    }


def table(line: Line) -> str:
    """The line for a terminal: a row per run, then its sentences."""
    rows = [HEAD, *(_row(point) for point in line.points)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_padded(row, widths) for row in rows]
    return "\n".join([f"{line.series} · {line.scorer}", *lines, "", *line.sentences]) + "\n"


def markdown(line: Line) -> str:
    """The same as `table`, for a pull request."""
    rows = [HEAD, ("---",) * len(HEAD), *(_row(point) for point in line.points)]
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    said = [f"- {sentence}" for sentence in line.sentences]
    return "\n".join([f"### {line.series} · {line.scorer}", "", *lines, "", *said]) + "\n"


def _point_json(point: Point) -> dict[str, Any]:
    return {
        "run": point.run,
        "dated": point.dated,
        "n": point.n,
        "mean": point.mean,
        "interval": list(point.interval) if point.interval else None,
        "pass_rate": point.pass_rate,
        "fixed": point.fixed,
        "broke": point.broke,
        "scorer_version": point.scorer_version,
        "dataset_version": point.dataset_version,
        "threshold": point.threshold,
        "similarity": point.similarity,
        "distinct": point.distinct,
    }


def _without_place(change: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in change.items() if name != "place"}


def _row(point: Point) -> tuple[str, ...]:
    return (
        f"{point.label}{' (baseline)' if point.is_baseline else ''}",
        f"{point.dated:%Y-%m-%d}",
        _mean_text(point),
        _NONE if point.pass_rate is None else f"{point.pass_rate:.1%}",
        f"{point.n:,}",
        _NONE if point.fixed is None else f"{point.fixed:,}",
        _NONE if point.broke is None else f"{point.broke:,}",
        _NONE if point.similarity is None else f"{point.similarity:.2f}",
        "; ".join(each.text for each in point.breaks),
    )


def _mean_text(point: Point) -> str:
    if point.mean is None:
        return _NONE
    if point.interval is None:
        return f"{point.mean:.3f}"
    low, high = point.interval
    return f"{point.mean:.3f} [{low:.3f}, {high:.3f}]"


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    run, dated, *figures, changed = zip(row, widths, strict=True)
    left = [cell.ljust(width) for cell, width in (run, dated)]
    right = [cell.rjust(width) for cell, width in figures]
    return "  ".join([*left, *right, changed[0]]).rstrip()
