"""A drift line's chart, and small multiples of its tags."""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.core.drift_chart import DriftChart, Reading, Span, drift_chart
from scoring.engine.drift.line import Line
from scoring.engine.drift.point import TagFigure

MOST_TAGS: Final = 20


class TagLine(NamedTuple):
    """One tag's figures at each of the line's points; None where the run has no scored case of it
    or is not measured yet.
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
        found = [mean for mean in self.means if mean is not None]
        return found[-1] - found[-2] if len(found) > 1 else None


def chart_of(line: Line) -> DriftChart:
    """The line's geometry; a mark's place is that of the point."""
    changed = {change.place for change in line.changes}
    outside = {each.place for each in line.outside}
    readings = [
        Reading(
            run=point.run,
            label=point.label,
            dated=point.dated,
            mean=point.mean,
            interval=point.interval,
            pass_rate=point.pass_rate,
            threshold=point.threshold,
            fixed=point.fixed,
            broke=point.broke,
            similarity=point.similarity,
            distinct=point.distinct,
            breaks=tuple(each.text for each in point.breaks),
            is_cut_off=point.is_cut_off,
            is_baseline=point.is_baseline,
            is_change=place in changed,
            is_outside=place in outside,
        )
        for place, point in enumerate(line.points)
    ]
    limits = line.limits
    span = Span(limits.low, limits.centre, limits.high, line.limited[0]) if limits else None
    return drift_chart(readings, span)


def tag_lines(line: Line) -> list[TagLine]:
    """At most MOST_TAGS tags, those with the most cases in their latest run first."""
    tags = {tag for point in line.points for tag in point.tags}
    found = [TagLine(tag, tuple(point.tags.get(tag) for point in line.points)) for tag in tags]
    found.sort(key=lambda each: (-(each.latest.n if each.latest else 0), each.tag))
    return found[:MOST_TAGS]
