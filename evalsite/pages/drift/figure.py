"""A drift line on a page: its chart, the text and link of each mark, its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from evalsite.pages.alerts.rows import AlertRow
from evalsite.pages.drift import marks as drift_marks
from evalsite.pages.drift.later_rates import LaterRate, LaterRates
from evalsite.pages.drift.marks import ChartPoint
from evalsite.templatetags.charts import length_share
from evalsite.templatetags.formatting import NOTHING, count, plain, score, share
from scoring.core.charts.drift_chart import DriftChart, FlipBar, Mark
from scoring.core.charts.small_charts import Sparkline, sparkline
from scoring.engine.drift import DriftLine, Point
from scoring.engine.drift.chart import build_chart, tag_lines

MAX_LARGE_MARKS = 30  # marks that leave no room for large ones
GRID = 0.1  # the axis of small multiples begins at a multiple of it


class PointLinks(NamedTuple):
    """The pages of a run, and of its comparison with the run before, if any."""

    run_url: str
    compare_url: str


class DriftRow(NamedTuple):
    """A run in the table; `of` counts all its outputs, scored or not."""

    number: int  # in the chart, from 0
    of: int
    point: Point
    run_url: str
    compare_url: str
    notes: tuple[str, ...]
    later: LaterRate | None


class TagChart(NamedTuple):
    """One tag's small chart."""

    tag: str
    chart: Sparkline
    mean: float
    n: int
    delta: float | None


@dataclass(frozen=True)
class DriftFigure:
    """The chart and table of one line. `alerts` are its open ones, `later_rates` those of runs that
    are re-labelled.
    """

    line: DriftLine
    slug: str  # of the team
    alerts: Sequence[AlertRow] = ()
    later_rates: LaterRates = field(default_factory=dict)

    @cached_property
    def chart(self) -> DriftChart:
        return build_chart(self.line)

    @property
    def own_query(self) -> str:
        """The query string that shows this line alone."""
        return f"?{urlencode({'scorer': self.line.scorer, 'series': self.line.series})}"

    @property
    def run_count(self) -> int:
        return len(self.line.runs)

    @property
    def is_cut(self) -> bool:
        """Whether only a part of the line is shown."""
        return len(self.line.visible) < self.run_count

    @property
    def first_shown(self) -> int:
        """Which of the line's runs the chart begins with, counted from 1."""
        return self.line.visible.start + 1

    @property
    def overview(self) -> Sparkline:
        """The means of all runs."""
        means = [run.kept.mean if run.kept else None for run in self.line.runs]
        low = min((mean for mean in means if mean is not None), default=0.0) // GRID * GRID
        return sparkline(means, self.line.points[-1].threshold, low=min(low, 1 - GRID))

    @property
    def earlier_url(self) -> str:
        """The part of the line before the one shown; empty where there is none."""
        before = self.line.points[0].before
        return f"{self.own_query}&until={before}" if before else ""

    @property
    def later_url(self) -> str:
        """The part after it; empty where there is none."""
        last = self.line.part.next(self.line.runs)
        if last < self.line.visible.stop:
            return ""
        return f"{self.own_query}&until={self.line.details[last].run}"

    @property
    def is_crowded(self) -> bool:
        return len(self.chart.marks) > MAX_LARGE_MARKS

    @property
    def middle(self) -> float:
        """The height at which bars of fixed and broken cases meet."""
        return self.chart.bars_height / 2

    @property
    def latest_text(self) -> str:
        return self.chart_points[-1].text

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
        """The runs, by UUID, that an alert is about."""
        return {str(row.alert.run.uuid) for row in self.alerts if row.alert.run}

    @property
    def has_changes(self) -> bool:
        return any(mark.is_change for mark in self.chart.marks)

    @property
    def has_outside(self) -> bool:
        return any(mark.is_outside for mark in self.chart.marks)

    @cached_property
    def links(self) -> list[PointLinks]:
        """Of each point. `reverse` is called once: 52 calls take a tenth of the page's time."""
        first = self.line.points[0].run
        runs, compare = reverse("run", args=[first]), reverse("compare", args=[self.slug])
        return [
            PointLinks(runs.replace(first, point.run), compare_url(point, compare))
            for point in self.line.points
        ]

    @cached_property
    def chart_points(self) -> list[ChartPoint]:
        bars = {bar.place: bar for bar in self.chart.bars}
        marks = self.chart.marks
        return [
            self._chart_point(before, mark, bars.get(mark.place))
            for before, mark in zip([None, *marks], marks, strict=False)
        ]

    @property
    def marks(self) -> SafeString:
        return drift_marks.draw_marks(self.chart_points)

    @property
    def steps(self) -> SafeString:
        return drift_marks.draw_steps(self.chart_points)

    @property
    def bars(self) -> SafeString:
        return drift_marks.draw_bars(self.chart_points, self.chart.bars_height)

    @cached_property
    def rows(self) -> list[DriftRow]:
        """Newest first."""
        points = zip(self.line.points, self.links, self.line.notes, strict=True)
        rows = [
            DriftRow(
                number, point.n + point.unscored, point, *links, notes, self._later_rate(point)
            )
            for number, (point, links, notes) in enumerate(points)
        ]
        return rows[::-1]

    @cached_property
    def multiples(self) -> list[TagChart]:
        """By tag, over one axis for all of them."""
        tags = tag_lines(self.line)
        means = [mean for tag in tags for mean in tag.means if mean is not None]
        low = min(means, default=0.0) // GRID * GRID
        threshold = self.line.points[-1].threshold
        return [
            TagChart(
                tag.tag,
                sparkline(tag.means, threshold, low=low),
                tag.latest.mean,
                tag.latest.n,
                tag.delta,
            )
            for tag in tags
            if tag.latest
        ]

    def _later_rate(self, point: Point) -> LaterRate | None:
        return self.later_rates.get((point.run, self.line.scorer))

    def _chart_point(self, before: Mark | None, mark: Mark, bar: FlipBar | None) -> ChartPoint:
        point, links = self.line.points[mark.place], self.links[mark.place]
        segment = ""
        if (
            before
            and before.place == mark.place - 1
            and not point.is_cut_off
            and None not in (before.y, mark.y)
        ):
            segment = f"{before.x},{before.y} {mark.x},{mark.y}"
        is_firing = point.run in self.firing
        notes = [*self.line.notes[mark.place], *(["an alert fires"] if is_firing else [])]
        return ChartPoint(
            mark=mark,
            x=length_share(mark.x, self.chart.width),
            classes=_mark_classes(mark),
            bar=bar,
            run_url=links.run_url,
            compare_url=links.compare_url,
            segment=segment,
            text=_describe_point(point, notes, self._later_rate(point)),
            flips_text=_describe_flips(point),
            is_firing=is_firing,
        )


def _mark_classes(mark: Mark) -> str:
    kinds = {
        "is-baseline": mark.is_baseline,
        "is-change": mark.is_change,
        "is-outside": mark.is_outside,
    }
    return " ".join(["drift-mark", *(name for name, is_kind in kinds.items() if is_kind)])


def compare_url(point: Point, path: str) -> str:
    """The comparison of a run with the one before it, at this path; empty for the first."""
    return f"{path}?baseline={point.before}&candidate={point.run}" if point.before else ""


def _describe_point(point: Point, notes: Sequence[str], later: LaterRate | None) -> str:
    interval = ""
    if point.interval:
        low, high = point.interval
        interval = f" [{score(low, 3)}, {score(high, 3)}]"
    mean = f"{score(point.mean, 3)}{interval}, n = {count(point.n)}"
    parts = [f"{point.label}, {point.dated:%-d %b %Y}: mean {mean}"]
    if point.pass_rate is not None:
        parts.append(f"{share(point.pass_rate)} pass")
    if later:
        parts.append(f"re-labelled {share(later.rate)} pass at {plain(later.threshold)}")
    if point.fixed is not None and point.broke is not None:
        parts.append(_flips_text(point))
    if point.similarity is not None:
        parts.append(f"similarity {score(point.similarity)}")
    if point.is_baseline:
        parts.append("baseline")
    return " · ".join([*parts, *notes])


def _flips_text(point: Point) -> str:
    return f"{count(point.fixed)} fixed, {count(point.broke)} broke" if point.pairs else NOTHING


def _describe_flips(point: Point) -> str:
    if point.pairs is None:
        return ""
    return f"{point.label} against the run before: {_flips_text(point)}, of {count(point.pairs)}"
