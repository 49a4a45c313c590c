"""Drift lines as tables, as Markdown and as the API tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scoring.core.wording.numbers import change_text, number_text, share_text, to_ascii
from scoring.core.wording.tables import NO_FIGURE, align_columns, interval_text, markdown_table
from scoring.engine.drift.chart import tag_lines
from scoring.engine.drift.line import DriftLine
from scoring.engine.drift.point import Point
from scoring.models import Relabel
from scoring.models.runs.relabel import describe_relabel

HEAD: Final = (
    "run", "dated", "mean [95 %]", "pass rate", "n", "fixed", "broke", "over all", "similarity",
    "unique", "changed",
)  # fmt: skip
TEXT_COLUMNS: Final = (0, 1, len(HEAD) - 1)
TAG_HEAD: Final = ("tag", "mean", "change", "n")  # of the latest run


def as_json(line: DriftLine, relabels: Mapping[str, Relabel]) -> dict[str, Any]:
    """The line in the API's shape; a figure that is not there is None.

    `relabels` are those of `read_relabels`.
    """
    baseline = line.baseline
    return {
        "scorer": line.scorer,
        "series": line.series,
        "baseline": baseline.run if baseline else None,
        "points": [_point_json(point, relabels.get(point.run)) for point in line.points],
        "change_points": [
            {name: value for name, value in change._asdict().items() if name != "place"}
            | {"run": line.points[change.place].run}
            for change in line.changes
        ],
        "level": _level_json(line),
        "limits": line.limits._asdict() if line.limits else None,
        "limits_reason": line.limits_reason,
        "outside": [line.points[each.place].run for each in line.outside],
        "sentences": line.sentences,
        "is_measured": line.is_measured,
    }


def read_relabels(lines: Iterable[DriftLine]) -> dict[str, Relabel]:
    """The later labels of the runs of the lines, by the runs' UUIDs.

    One query, none where no run is of a suite.
    """
    runs = {point.run for line in lines for point in line.points if point.has_suite}
    if not runs:
        return {}
    relabels = Relabel.objects.in_force().filter(run__uuid__in=runs)
    return {str(each.run.uuid): each for each in relabels.select_related("run", "created_by")}


def as_table(line: DriftLine) -> str:
    """The line for a terminal: a row per run, what it says in sentences, and its tags."""
    points = align_columns([HEAD, *_rows(line)], TEXT_COLUMNS)
    lines = [f"{line.series} · {line.scorer}", *points, _legend(line), "", *line.sentences]
    if tags := _tag_rows(line):
        lines += ["", *align_columns([TAG_HEAD, *tags])]
    return "\n".join(lines) + "\n"


def as_markdown(line: DriftLine) -> str:
    """The same as `as_table`, for a pull request."""
    points = markdown_table([HEAD, *_rows(line)])
    lines = [f"### {line.series} · {line.scorer}", "", *points, "", _legend(line), ""]
    lines += [f"- {sentence}" for sentence in line.sentences]
    if tags := _tag_rows(line):
        lines += ["", *markdown_table([TAG_HEAD, *tags])]
    return "\n".join(lines) + "\n"


def _legend(line: DriftLine) -> str:
    return (
        f"fixed and broke: cases whose verdict by {line.scorer} flipped since the run before; "
        "over all: fixed / broke over all scorers"
    )


def _point_json(point: Point, relabel: Relabel | None) -> dict[str, Any]:
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
        "relabel": describe_relabel(relabel),
        "similarity": point.similarity,
        "distinct": point.distinct,
    }


def _level_json(line: DriftLine) -> dict[str, Any]:
    """Where the newest runs stand."""
    level, runs = line.level, line.standing.period.runs
    return {
        "status": line.standing.status,
        "since": line.points[runs[0]].run if runs else None,
        "runs": len(runs),
        "p": level.newest.p_corrected if level.newest else None,
        "detectable_drop": level.detectable,
    }


def _rows(line: DriftLine) -> list[tuple[str, ...]]:
    return [_row(point, notes) for point, notes in zip(line.points, line.notes, strict=True)]


def _row(point: Point, notes: Sequence[str]) -> tuple[str, ...]:
    cases = point.cases
    return (
        f"{point.label}{' (baseline)' if point.is_baseline else ''}",
        f"{point.dated:%Y-%m-%d}",
        NO_FIGURE if point.mean is None else interval_text(point.mean, point.interval),
        NO_FIGURE if point.pass_rate is None else to_ascii(share_text(point.pass_rate)),
        f"{point.n:,}",
        NO_FIGURE if point.fixed is None else f"{point.fixed:,}",
        NO_FIGURE if point.broke is None else f"{point.broke:,}",
        f"{cases.fixed:,} / {cases.broke:,}" if cases else NO_FIGURE,
        NO_FIGURE if point.similarity is None else number_text(point.similarity),
        NO_FIGURE if point.distinct is None else to_ascii(share_text(point.distinct)),
        "; ".join(notes),
    )


def _tag_rows(line: DriftLine) -> list[tuple[str, ...]]:
    return [
        (
            tag.tag,
            number_text(tag.latest.mean, 3),
            NO_FIGURE if tag.delta is None else to_ascii(change_text(tag.delta)),
            f"{tag.latest.n:,}",
        )
        for tag in tag_lines(line)
        if tag.latest
    ]
