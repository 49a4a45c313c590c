"""A drift line as a page draws it: the chart, what each mark says and where it leads, a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from evalsite.pages import drift_marks
from evalsite.pages.alert_rows import AlertRow
from evalsite.templatetags.charts import part_of
from evalsite.templatetags.look import NOTHING, count, score, share
from scoring.core.charts import Sparkline, sparkline
from scoring.core.drift_chart import DriftChart, FlipBar, Mark
from scoring.engine.drift import Line, Point
from scoring.engine.drift.chart import TagLine, chart_of, tag_lines
from scoring.engine.drift.point import TagFigure

CROWDED = 30  # marks that leave no room for large ones
GRID = 0.1  # the axis of small multiples begins at a multiple of it


class Links(NamedTuple):
    """Where a run leads: to its page, and to the comparison with the run before, if any."""

    run_url: str
    compare_url: str


class Spot(NamedTuple):
    """A run in the chart, at `x` of its width. `segment` is the line from the run before, as two
    points; without a comparison `compare_url` is empty.
    """

    mark: Mark
    x: str
    look: str  # classes
    bar: FlipBar | None
    run_url: str
    compare_url: str
    segment: str
    says: str
    flips_say: str
    is_firing: bool  # an alert that is not over


class Row(NamedTuple):
    """A run in the table; `of` counts all its outputs, scored or not."""

    place: int
    of: int
    point: Point
    run_url: str
    compare_url: str
    notes: tuple[str, ...]


class Multiple(NamedTuple):
    """One tag's small chart."""

    tag: str
    chart: Sparkline
    mean: float
    n: int
    delta: float | None


@dataclass(frozen=True)
class DriftFigure:
    """Everything a page shows of one line. `alerts` are those on it that are not over."""

    line: Line
    slug: str  # of the team
    alerts: Sequence[AlertRow] = ()

    @cached_property
    def chart(self) -> DriftChart:
        return chart_of(self.line)

    @property
    def own_query(self) -> str:
        """The query string that shows this line alone."""
        return f"?{urlencode({'scorer': self.line.scorer, 'series': self.line.series})}"

    @property
    def is_crowded(self) -> bool:
        return len(self.chart.marks) > CROWDED

    @property
    def middle(self) -> float:
        """The height at which bars of fixed and broken cases meet."""
        return self.chart.bars_height / 2

    @property
    def latest_says(self) -> str:
        return self.spots[-1].says

    @property
    def has_rates(self) -> bool:
        """Whether the pass rates are other values than the means."""
        return any(point.pass_rate != point.mean for point in self.line.points)

    @property
    def has_texts(self) -> bool:
        return bool(self.chart.similarity_lines or self.chart.distinct_lines)

    @property
    def has_cases(self) -> bool:
        """Whether case verdicts, over all scorers, flipped otherwise than the scorer's own."""
        return any(
            point.cases and point.cases[1:] != (point.fixed, point.broke)
            for point in self.line.points
        )

    @cached_property
    def firing(self) -> set[str]:
        """The runs, by their addresses' names, that an alert is about."""
        return {str(row.alert.run.uuid) for row in self.alerts if row.alert.run}

    @property
    def has_outside(self) -> bool:
        return bool(self.line.outside)

    @cached_property
    def links(self) -> list[Links]:
        """Of each point. An address is looked up once: 52 times it is a tenth of the page."""
        first = self.line.points[0].run
        runs, compare = reverse("run", args=[first]), reverse("compare", args=[self.slug])
        return [
            Links(runs.replace(first, point.run), compare_url(point, compare))
            for point in self.line.points
        ]

    @cached_property
    def spots(self) -> list[Spot]:
        bars = {bar.place: bar for bar in self.chart.bars}
        marks = self.chart.marks
        return [
            self._spot(before, mark, bars.get(mark.place))
            for before, mark in zip([None, *marks], marks, strict=False)
        ]

    @property
    def marks(self) -> SafeString:
        return drift_marks.marks(self.spots)

    @property
    def steps(self) -> SafeString:
        return drift_marks.steps(self.spots)

    @property
    def bars(self) -> SafeString:
        return drift_marks.bars(self.spots, self.chart.bars_height)

    @cached_property
    def rows(self) -> list[Row]:
        """Newest first."""
        found = [
            Row(
                place,
                point.n + point.unscored,
                point,
                *self.links[place],
                self.line.notes[place],
            )
            for place, point in enumerate(self.line.points)
        ]
        return found[::-1]

    @cached_property
    def multiples(self) -> list[Multiple]:
        """By tag, over one axis for all of them."""
        tags = tag_lines(self.line)
        means = [mean for tag in tags for mean in tag.means if mean is not None]
        low = min(means, default=0.0) // GRID * GRID
        return [self._multiple(tag, tag.latest, low) for tag in tags if tag.latest]

    def _spot(self, before: Mark | None, mark: Mark, bar: FlipBar | None) -> Spot:
        point = self.line.points[mark.place]
        is_next = before is not None and before.place == mark.place - 1
        segment = ""
        if is_next and before and not point.is_cut_off and None not in (before.y, mark.y):
            segment = f"{before.x},{before.y} {mark.x},{mark.y}"
        is_firing = point.run in self.firing
        notes = [*self.line.notes[mark.place], *(["an alert fires"] if is_firing else [])]
        says, flips = _said(point, notes), _flips_said(point)
        return Spot(
            mark=mark,
            x=part_of(mark.x, self.chart.width),
            look=_look(mark),
            bar=bar,
            run_url=self.links[mark.place].run_url,
            compare_url=self.links[mark.place].compare_url,
            segment=segment,
            says=says,
            flips_say=flips,
            is_firing=is_firing,
        )

    def _multiple(self, tag: TagLine, latest: TagFigure, low: float) -> Multiple:
        chart = sparkline(tag.means, self.line.points[-1].threshold, low=low)
        return Multiple(tag.tag, chart, latest.mean, latest.n, tag.delta)


def _look(mark: Mark) -> str:
    kinds = {
        "is-baseline": mark.is_baseline,
        "is-change": mark.is_change,
        "is-outside": mark.is_outside,
    }
    return " ".join(["drift-mark", *(name for name, holds in kinds.items() if holds)])


def compare_url(point: Point, page: str) -> str:
    """Where a run is compared with the one before it on the page; empty for the first."""
    return f"{page}?baseline={point.before}&candidate={point.run}" if point.before else ""


def _said(point: Point, notes: Sequence[str]) -> str:
    parts = [f"{point.label}, {point.dated:%-d %b %Y}: mean {_mean_text(point)}"]
    if point.pass_rate is not None:
        parts.append(f"{share(point.pass_rate)} pass")
    if point.fixed is not None and point.broke is not None:
        parts.append(_flips_text(point))
    if point.similarity is not None:
        parts.append(f"{score(point.similarity)} alike")
    if point.is_baseline:
        parts.append("baseline")
    return " · ".join([*parts, *notes])


def _mean_text(point: Point) -> str:
    interval = ""
    if point.interval:
        low, high = point.interval
        interval = f" [{score(low, 3)}, {score(high, 3)}]"
    return f"{score(point.mean, 3)}{interval}, n = {count(point.n)}"


def _flips_text(point: Point) -> str:
    return f"{count(point.fixed)} fixed, {count(point.broke)} broke" if point.pairs else NOTHING


def _flips_said(point: Point) -> str:
    if point.pairs is None:
        return ""
    return f"{point.label} against the run before: {_flips_text(point)}, of {count(point.pairs)}"
