"""A drift line's chart, and small multiples of its tags."""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.core.charts.drift_chart import ChartReading, DriftChart, Span, drift_chart
from scoring.engine.drift.line import DriftLine
from scoring.engine.drift.point import TagFigure

MAX_TAGS: Final = 20


class TagLine(NamedTuple):
    """One tag's figures at each of the line's points; None where the run has no scored case of the
    tag or is not measured yet.
    """

    tag: str
    figures: tuple[TagFigure | None, ...]

    @property
    def means(self) -> list[float | None]:
        return [figure.mean if figure else None for figure in self.figures]

    @property
    def latest(self) -> TagFigure | None:
        return next((figure for figure in reversed(self.figures) if figure), None)

    @property
    def delta(self) -> float | None:
        """Of the mean, against the run before that has one; None for the first."""
        means = [mean for mean in self.means if mean is not None]
        return means[-1] - means[-2] if len(means) > 1 else None


def build_chart(line: DriftLine) -> DriftChart:
    """The chart of the points that are shown, whose places its marks count from 0."""
    changed = {change.place for change in line.changes}
    outside = {place for place, _ in line.outside}
    readings = [
        ChartReading(
            run=point.run,
            label=point.label,
            time=point.series_time,
            mean=point.mean,
            interval=point.interval,
            pass_rate=point.pass_rate,
            threshold=point.threshold,
            fixed=point.fixed,
            broke=point.broke,
            similarity=point.similarity,
            distinct=point.distinct,
            breaks=tuple(change.text for change in point.breaks),
            is_cut_off=point.is_cut_off,
            is_baseline=point.is_baseline,
            is_change=place in changed,
            is_outside=place in outside,
        )
        for place, point in zip(line.visible, line.points, strict=True)
    ]
    return drift_chart(readings, _span(line), line.baseline_mean)


def _span(line: DriftLine) -> Span | None:
    """The limits, where any of the runs they are made from is shown."""
    limits, first = line.limits, line.visible.start
    if limits is None or line.limited[0] >= line.visible.stop:
        return None
    return Span(limits.low, limits.centre, limits.high, max(0, line.limited[0] - first))


def tag_lines(line: DriftLine) -> list[TagLine]:
    """At most MAX_TAGS tags, those with the most cases in their latest run first."""
    tags = {tag for point in line.points for tag in point.tags}
    lines = [TagLine(tag, tuple(point.tags.get(tag) for point in line.points)) for tag in tags]
    lines.sort(key=lambda line: (-(line.latest.n if line.latest else 0), line.tag))
    return lines[:MAX_TAGS]
