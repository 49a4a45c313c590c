"""Drift lines as tables, as Markdown and as the API tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scoring.core.number_text import change_text, number_text, share_text, typeable
from scoring.engine.drift.chart import tag_lines
from scoring.engine.drift.line import Line
from scoring.engine.drift.point import Point

HEAD: Final = (
    "run", "dated", "mean [95 %]", "pass rate", "n", "fixed", "broke", "over all", "alike",
    "distinct", "changed",
)  # fmt: skip
TAG_HEAD: Final = ("tag", "mean", "change", "n")  # of the latest run
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
    """The line for a terminal: a row per run, what it says in sentences, and its tags."""
    points = _aligned([HEAD, *_rows(line)])
    lines = [f"{line.series} · {line.scorer}", *points, _counted(line), "", *line.sentences]
    tags = [TAG_HEAD, *_tag_rows(line)]
    return "\n".join([*lines, *(["", *_aligned(tags, 1)] if len(tags) > 1 else [])]) + "\n"


def markdown(line: Line) -> str:
    """The same as `table`, for a pull request."""
    said = [f"- {sentence}" for sentence in line.sentences]
    points = _piped([HEAD, *_rows(line)])
    lines = [f"### {line.series} · {line.scorer}", "", *points, "", _counted(line), "", *said]
    tags = [TAG_HEAD, *_tag_rows(line)]
    return "\n".join([*lines, *(["", *_piped(tags)] if len(tags) > 1 else [])]) + "\n"


def _counted(line: Line) -> str:
    return (
        f"fixed and broke: cases whose verdict by {line.scorer} flipped since the run before; "
        "over all: fixed / broke over all scorers"
    )


def _piped(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = rows
    ruled = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in ruled]


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
        "cases_fixed": point.cases.fixed if point.cases else None,
        "cases_broke": point.cases.broke if point.cases else None,
        "scorer_version": point.scorer_version,
        "dataset_version": point.dataset_version,
        "threshold": point.threshold,
        "similarity": point.similarity,
        "distinct": point.distinct,
    }


def _without_place(change: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in change.items() if name != "place"}


def _rows(line: Line) -> list[tuple[str, ...]]:
    return [_row(*each) for each in zip(line.points, line.notes, strict=True)]


def _row(point: Point, notes: Sequence[str]) -> tuple[str, ...]:
    cases = point.cases
    return (
        f"{point.label}{' (baseline)' if point.is_baseline else ''}",
        f"{point.dated:%Y-%m-%d}",
        _mean_text(point),
        _NONE if point.pass_rate is None else typeable(share_text(point.pass_rate)),
        f"{point.n:,}",
        _NONE if point.fixed is None else f"{point.fixed:,}",
        _NONE if point.broke is None else f"{point.broke:,}",
        f"{cases.fixed:,} / {cases.broke:,}" if cases else _NONE,
        _NONE if point.similarity is None else number_text(point.similarity),
        _NONE if point.distinct is None else typeable(share_text(point.distinct)),
        "; ".join(notes),
    )


def _tag_rows(line: Line) -> list[tuple[str, ...]]:
    return [
        (
            tag.tag,
            number_text(tag.latest.mean, 3),
            _NONE if tag.delta is None else typeable(change_text(tag.delta)),
            f"{tag.latest.n:,}",
        )
        for tag in tag_lines(line)
        if tag.latest
    ]


def _mean_text(point: Point) -> str:
    if point.mean is None:
        return _NONE
    if point.interval is None:
        return number_text(point.mean, 3)
    low, high = (number_text(end, 3) for end in point.interval)
    return f"{number_text(point.mean, 3)} [{low}, {high}]"


def _aligned(rows: Sequence[Sequence[str]], texts: int = 2) -> list[str]:
    """In columns: so many of text, then figures, which end alike; the last of HEAD is text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_padded(row, widths, texts) for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int], texts: int) -> str:
    cells = [
        cell.ljust(width) if place < texts or place == len(HEAD) - 1 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
