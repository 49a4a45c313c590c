"""The drift lines of a dataset, in a fixed number of queries however many and large the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from scoring.core.drift import FEWEST, LATEST, Change, Limits, change_points, control_limits
from scoring.core.drift_words import Told, sentences
from scoring.core.number_text import number_text
from scoring.engine.drift.measure import holds, latest_of_each
from scoring.engine.drift.point import Point, point_of
from scoring.engine.drift.reference import Reference, references_of
from scoring.models import Dataset, RunScorer, RunStep
from scoring.models.drift import points_in_time, steps_into

MOST_POINTS: Final = 500  # the newest ones of a line
#: What a line reads of its runs: all their columns would take as long to read as the chart to draw.
READ: Final = (
    "name", "threshold", "version__number", "version__scorer",
    "run__uuid", "run__name", "run__finished_at", "run__output_set__series",
    "run__output_set__dated", "run__output_set__version__number",
    "run__drift__run_finished_at", "run__drift__tags", "run__drift__against",
    "run__drift__similarity", "run__drift__compared", "run__drift__sampled",
    "run__drift__distinct", "summary__scored", "summary__errors", "summary__skipped",
    "summary__passed", "summary__mean", "summary__variance",
)  # fmt: skip


class Outside(NamedTuple):
    """A point beyond the control limits."""

    place: int
    is_below: bool


@dataclass(frozen=True)
class Line:
    """The runs of one series as one scorer saw them, oldest first; there is at least one.

    `is_measured` is False while figures kept beside the summaries are missing or out of date.
    `reference` names the run whose outputs texts are compared with.
    """

    dataset: Dataset
    scorer: str
    series: str
    points: tuple[Point, ...]
    reference: str
    is_measured: bool

    @property
    def baseline(self) -> Point | None:
        """The pinned run's point."""
        return next((point for point in self.points if point.is_baseline), None)

    @cached_property
    def stretches(self) -> list[list[int]]:
        """The places of points with a mean, parted where means stop being comparable."""
        found: list[list[int]] = [[]]
        for place, point in enumerate(self.points):
            if point.is_cut_off:
                found.append([])
            if point.mean is not None:
                found[-1].append(place)
        return found

    @cached_property
    def limits(self) -> Limits | None:
        """Of the runs since the last break; None below FEWEST of them."""
        return control_limits(self._means(self.stretches[-1]))

    @property
    def limited(self) -> list[int]:
        """The places of the points the limits are made from."""
        return self.stretches[-1][-LATEST:] if self.limits else []

    @property
    def limits_reason(self) -> str:
        """Why there are no limits; empty where there are."""
        if self.limits:
            return ""
        n = len(self.stretches[-1])
        since = ""
        if len(self.stretches) > 1:
            cut = [point for point in self.points if point.is_cut_off][-1]
            since = f" since {cut.label} ({', '.join(b.text for b in cut.breaks if b.parts)})"
        runs = "1 run" if n == 1 else f"{n:,} runs"
        return f"Not enough runs for control limits: {runs}{since}, {FEWEST} are needed."

    @cached_property
    def outside(self) -> list[Outside]:
        """The points beyond the limits, oldest first."""
        if self.limits is None:
            return []
        low, high = self.limits.low, self.limits.high
        means = [(place, self.points[place].mean or 0.0) for place in self.limited]
        return [Outside(at, mean < low) for at, mean in means if not low <= mean <= high]

    @cached_property
    def changes(self) -> list[Change]:
        """Changes of level within each stretch; `place` is that among the line's points."""
        return [
            change._replace(place=stretch[change.place])
            for stretch in self.stretches
            for change in _changes(tuple(self._means(stretch)))
        ]

    @property
    def spanned(self) -> list[int]:
        """Where the level changed among the runs of the limits, which are wide then."""
        return [change.place for change in self.changes if change.place in self.limited[1:]]

    @cached_property
    def notes(self) -> list[tuple[str, ...]]:
        """What is special about each point, in words."""
        levels = {change.place: (_level(change),) for change in self.changes}
        sides = {True: ("below the limits",), False: ("above the limits",)}
        outside = {place: sides[is_below] for place, is_below in self.outside}
        return [
            (*(each.text for each in point.breaks), *levels.get(place, ()), *outside.get(place, ()))
            for place, point in enumerate(self.points)
        ]

    @cached_property
    def sentences(self) -> list[str]:
        """What the line says, in words."""
        told = [
            Told(
                p.label, p.n, p.mean, p.pass_rate, p.pairs, p.fixed, p.broke,
                p.similarity, p.distinct, p.are_same,
            )
            for p in self.points
        ]  # fmt: skip
        outside = [(place, is_below) for place, is_below in self.outside]
        found = sentences(
            self.scorer, told, self.limits, outside, self.changes, self.reference,
            parted=[place for place, point in enumerate(self.points) if point.is_cut_off],
            spanned=self.spanned,
        )  # fmt: skip
        return [*found, self.limits_reason] if self.limits_reason else found

    def _means(self, places: Sequence[int]) -> list[float]:
        return [mean for place in places if (mean := self.points[place].mean) is not None]


def _level(change: Change) -> str:
    verb = "fell" if change.after < change.before else "rose"
    return f"level {verb} {number_text(change.before, 3)} → {number_text(change.after, 3)}"


@lru_cache(maxsize=512)
def _changes(means: tuple[float, ...]) -> tuple[Change, ...]:
    """Permuting takes milliseconds, and the same runs are looked at again and again."""
    return tuple(change_points(means))


def lines_of(dataset: Dataset, *, scorer: str = "", series: str = "") -> list[Line]:
    """The lines of a dataset in order of series and scorer, by name; in three queries."""
    scorers = list(points_in_time(dataset, scorer=scorer, series=series).only(*READ))
    if not scorers:
        return []
    references = references_of(dataset)
    steps = steps_into({each.run_id: each.run for each in scorers}.values())
    return [
        _line(dataset, on_line, references[series], steps)
        for (series, _), on_line in sorted(_by_line(scorers).items())
    ]


def _by_line(scorers: Sequence[RunScorer]) -> dict[tuple[str, str], list[RunScorer]]:
    found: dict[tuple[str, str], list[RunScorer]] = defaultdict(list)
    for each in scorers:
        found[each.run.output_set.series, each.name].append(each)
    return found


def _line(
    dataset: Dataset,
    scorers: Sequence[RunScorer],
    reference: Reference,
    steps: Mapping[tuple[int, int], RunStep],
) -> Line:
    shown = latest_of_each(scorers)[-MOST_POINTS:]
    points = []
    for before, each, label in zip([None, *shown], shown, _labels(shown), strict=False):
        step = steps.get((before.run_id, each.run_id)) if before else None
        points.append(point_of(each, before, step, label, reference))
    is_measured = all(holds(each.run, reference.output_set) for each in shown)
    is_measured &= all(point.fixed is not None for point in points[1:])
    of = shown[0]
    series = of.run.output_set.series
    labels = {each.run_id: point.label for each, point in zip(shown, points, strict=True)}
    name = labels.get(reference.run, reference.name)
    return Line(dataset, of.name, series, tuple(points), name, is_measured)


def _labels(scorers: Sequence[RunScorer]) -> list[str]:
    """The runs' names, with a date where a name is not enough to tell runs apart."""
    counts = Counter(each.run.name for each in scorers)
    return [
        f"{each.run.name} ({each.run.output_set.dated:%Y-%m-%d})"
        if counts[each.run.name] > 1
        else each.run.name
        for each in scorers
    ]
