"""The drift lines of a dataset, in five queries however large the runs, up to 900 points."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Final, NamedTuple

from scoring.core.stats.change_points import (
    MIN_RUNS,
    WINDOW,
    ChangePoint,
    ControlLimits,
    DecidedRun,
    LevelPeriod,
    control_limits,
    find_changes,
    find_periods,
)
from scoring.core.wording.drift import (
    MAX_CHANGES_SHOWN,
    Level,
    Step,
    drift_sentences,
    same_text,
)
from scoring.core.wording.drift_status import LineStatus, find_line_status
from scoring.core.wording.numbers import number_text
from scoring.engine.drift.line_runs import MAX_POINTS, LineKey, LineRun, runs_by_line
from scoring.engine.drift.point import Point, PointRow, build_point, point_rows
from scoring.engine.drift.reference import ReferenceRun, reference_runs
from scoring.engine.drift.results import judged_runs
from scoring.models import Dataset
from scoring.models.runs.run_drift import CountedStep, counted_steps

MAX_BY_ID: Final = 900  # SQLite may be built for no more than 999 parameters


class PointOutsideLimits(NamedTuple):
    """A point at another level than its neighbours."""

    place: int
    is_below: bool


class LineWindow(NamedTuple):
    """The runs of a line that are shown: `most` runs up to the one with the id `until`, or up to
    the newest one where that is not on the line.
    """

    most: int = MAX_POINTS
    until: int | None = None

    def places(self, runs: Sequence[LineRun]) -> range:
        stops = (stop for stop, run in enumerate(runs, 1) if run.run == self.until)
        stop = next(stops, len(runs)) if self.until else len(runs)
        return range(max(0, stop - self.most), stop)

    def next(self, runs: Sequence[LineRun]) -> int:
        """The place of the last run of the part after this one."""
        return min(len(runs), self.places(runs).stop + self.most) - 1


WHOLE: Final = LineWindow()


@dataclass(frozen=True)
class DriftLine:
    """The runs of one series as one scorer saw them, oldest first; there is at least one.

    `reference` names the run whose outputs texts are compared with, and `pinned_run` is its id
    where it is the baseline. `details` holds the points at `places`: those that are shown, and
    those that sentences and links need besides.
    """

    dataset: Dataset
    scorer: str
    series: str
    runs: Sequence[LineRun]
    part: LineWindow
    reference: str
    pinned_run: int | None
    details: dict[int, Point] = field(default_factory=dict)

    @cached_property
    def visible(self) -> range:
        return self.part.places(self.runs)

    @cached_property
    def places(self) -> list[int]:
        """The places of the points that `details` has to hold."""
        last = len(self.runs) - 1
        newest = next((place for place in range(last, -1, -1) if self.runs[place].kept), last)
        named = {newest, last, self.part.next(self.runs), *self._flipped[-MAX_CHANGES_SHOWN:]}
        return sorted({*self.visible, *named})

    @property
    def is_measured(self) -> bool:
        """Whether the figures stored beside the summaries are complete and up to date."""
        has_steps = all(point.fixed is not None for point in self.points if point.before)
        return has_steps and all(point.is_fresh for point in self.points) and self.is_judged

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The points that are shown."""
        return tuple(self.details[place] for place in self.visible)

    @property
    def baseline(self) -> Point | None:
        """The pinned run's point, where it is shown."""
        return next((point for point in self.points if point.is_baseline), None)

    @property
    def baseline_mean(self) -> float | None:
        """The pinned run's mean, whether it is shown or not."""
        return next((run.mean for run in self.runs if run.run == self.pinned_run), None)

    @cached_property
    def parts(self) -> list[list[int]]:
        """The places of points with a mean, parted where means stop being comparable."""
        parts: list[list[int]] = [[]]
        for place, run in enumerate(self.runs):
            if run.is_cut_off:
                parts.append([])
            if run.kept:
                parts[-1].append(place)
        return parts

    @cached_property
    def decided(self) -> list[list[DecidedRun]]:
        """What is decided of the runs of each part, as far as it is up to date."""
        is_whole = len(self.runs) < MAX_POINTS
        return [
            judged_runs(
                [kept for place in part if (kept := self.runs[place].kept)],
                is_whole=is_whole or number > 0,
            )
            for number, part in enumerate(self.parts)
        ]

    @property
    def is_judged(self) -> bool:
        return len(self._judged) == sum(map(len, self.parts))

    @cached_property
    def standing(self) -> LineStatus:
        """The status of the newest runs; its places are those of the line's points."""
        part = self.parts[-1]
        found = find_line_status(self.decided[-1], len(part))
        period = found.period
        runs, left = ([part[index] for index in indices] for indices in (period.runs, period.left))
        changes = [change._replace(place=part[change.place]) for change in found.changes]
        return LineStatus(found.status, LevelPeriod(runs, left, period.is_varied), changes)

    @property
    def is_tested(self) -> bool:
        """Whether what is decided of the newest runs is up to date."""
        return len(self.decided[-1]) == len(self.parts[-1])

    @cached_property
    def limits(self) -> ControlLimits | None:
        """The limits of the runs since the last break or change of level; None for too few."""
        return control_limits(self._means(self.standing.period.runs)) if self.is_tested else None

    @property
    def limited(self) -> list[int]:
        """The places of the points the limits are made from."""
        return self.standing.period.runs[-WINDOW:] if self.limits else []

    @property
    def limits_reason(self) -> str:
        """Why there are no limits; empty where there are."""
        if self.limits:
            return ""
        if not self.is_tested:
            return "No control limits: the newest runs are not measured yet."
        n = len(self.standing.period.runs)
        runs = "1 run" if n == 1 else f"{n:,} runs"
        needed = f"Not enough runs for control limits: {runs}{self._since}, {MIN_RUNS} are needed."
        if len(self.parts[-1]) < 2:
            return needed
        return f"{needed} Until then each run is tested case by case against these runs alone."

    @property
    def _since(self) -> str:
        """What the level of the newest runs began with; empty for the line's first level."""
        first = self.standing.period.runs[:1]
        if first and first[0] in {change.place for change in self.changes}:
            return f" since the level changed with {self.runs[first[0]].label}"
        cut = [run for run in self.runs if run.is_cut_off]
        if not cut:
            return ""
        return f" since {cut[-1].label} ({', '.join(b.text for b in cut[-1].breaks if b.parts)})"

    @cached_property
    def outside(self) -> list[PointOutsideLimits]:
        """Runs at another level, after which the line came back to that of its newest runs."""
        period = self.standing.period
        level = fmean(self._means(period.runs)) if period.runs else 0.0
        return [
            PointOutsideLimits(place, (self.runs[place].mean or 0.0) < level)
            for place in period.left
        ]

    @cached_property
    def changes(self) -> list[ChangePoint]:
        """Changes of level within each part; `place` is that among the line's points."""
        earlier = [
            change._replace(place=part[change.place])
            for part, judged in zip(self.parts[:-1], self.decided[:-1], strict=True)
            for change in find_changes(judged, find_periods(judged))
        ]
        return [*earlier, *self.standing.changes]

    @cached_property
    def notes(self) -> list[tuple[str, ...]]:
        """What is special about each point that is shown, in words."""
        levels = {change.place: _level_note(change) for change in self.changes}
        outside = {
            place: "below the level" if is_below else "above the level"
            for place, is_below in self.outside
        }
        notes = []
        for place, point in zip(self.visible, self.points, strict=True):
            same = same_text(point.sampled, point.commonest)
            found = [levels.get(place), outside.get(place), same]
            notes.append((*(change.text for change in point.breaks), *filter(None, found)))
        return notes

    @cached_property
    def sentences(self) -> list[str]:
        """The line described in sentences."""
        sentences = drift_sentences(
            self.scorer,
            self.runs,
            self.details,
            self.level,
            self.reference,
            parted=[place for place, run in enumerate(self.runs) if run.is_cut_off],
            flipped=self._flipped,
        )
        return [*sentences, self.limits_reason] if self.limits_reason else sentences

    @cached_property
    def level(self) -> Level:
        judged, period = self.decided[-1], self.standing.period
        newest = judged[-1] if judged and self.is_tested else None
        detectable = self.details[self.parts[-1][-1]].detectable if newest else None
        tested = len(period.runs) - 1
        return Level(newest, tested, period, self.changes, self.limits, detectable, self._step)

    @property
    def _step(self) -> Step | None:
        """From the comparable run before it to the newest run, where that has a mean."""
        last, part = len(self.runs) - 1, self.parts[-1]
        step = self.details[last].step
        if not step or last not in self._judged or len(part) < 2:
            return None
        return Step._make((self.runs[part[-2]].label, *step))

    @cached_property
    def _flipped(self) -> list[int]:
        """The places of the runs whose flips from the run before are unusual, in order."""
        return [
            place
            for place in sorted(self._judged)
            if place and self.runs[place].has_unusual_flips and not self.runs[place].is_cut_off
        ]

    @cached_property
    def _judged(self) -> set[int]:
        """The places of the runs whose results are up to date."""
        parts = zip(self.parts, self.decided, strict=True)
        return {place for part, judged in parts for place in part[: len(judged)]}

    def _means(self, places: Sequence[int]) -> list[float]:
        return [mean for place in places if (mean := self.runs[place].mean) is not None]


def _level_note(change: ChangePoint) -> str:
    verb = "decreased" if change.after < change.before else "increased"
    return f"level {verb} {number_text(change.before, 3)} → {number_text(change.after, 3)}"


def drift_lines(
    dataset: Dataset,
    *,
    scorers: Collection[str] = (),
    series: Collection[str] = (),
    part: LineWindow = WHOLE,
) -> list[DriftLine]:
    """The lines of a dataset in order of series and scorer, by name, all or the named ones; in
    five queries.
    """
    by_line = runs_by_line(dataset, scorers, series)
    references = reference_runs(dataset, series) if by_line else {}
    lines = [_line(dataset, key, runs, references[key[0]], part) for key, runs in by_line.items()]
    rows = _read_rows(lines)
    steps = counted_steps({row.run_id for row in rows.values()})
    for line in lines:
        line.details.update(_points(line, rows, steps, references[line.series]))
    return lines


def _line(
    dataset: Dataset,
    key: LineKey,
    runs: Sequence[LineRun],
    reference: ReferenceRun,
    part: LineWindow,
) -> DriftLine:
    series, scorer = key
    names = {run.run: run.label for run in runs}
    name = names.get(reference.run, reference.name)
    pinned = reference.run if reference.is_pinned else None
    return DriftLine(dataset, scorer, series, runs, part, name, pinned)


def _read_rows(lines: Sequence[DriftLine]) -> dict[int, PointRow]:
    """The rows of the points that the lines have to hold and of those before them, by id."""
    wanted = {
        line.runs[max(0, place - back)].scorer
        for line in lines
        for place in line.places
        for back in (0, 1)
    }
    ids = sorted(wanted)
    parts = [ids[start : start + MAX_BY_ID] for start in range(0, len(ids), MAX_BY_ID)]
    return {pk: row for part in parts for pk, row in point_rows(part).items()}


def _points(
    line: DriftLine,
    rows: Mapping[int, PointRow],
    steps: Mapping[tuple[int, int], CountedStep],
    reference: ReferenceRun,
) -> Iterator[tuple[int, Point]]:
    for place in line.places:
        run = line.runs[place]
        before = rows[line.runs[place - 1].scorer] if place else None
        step = steps.get((before.run_id, run.run)) if before else None
        yield place, build_point(rows[run.scorer], before, step, run, reference)
