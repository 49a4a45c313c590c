"""One run on a drift line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Case, F, IntegerField, QuerySet, Value, When

from scoring.core.stats.descriptive import estimate_from_moments
from scoring.core.stats.flips import FlipCounts
from scoring.engine.drift.breaks import Break
from scoring.engine.drift.line_runs import LineRun
from scoring.engine.drift.reference import ReferenceRun
from scoring.models import RunScorer
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run_drift import CountedStep


class TagFigure(NamedTuple):
    n: int
    mean: float
    pass_rate: float


@dataclass(frozen=True, slots=True)
class Point:
    """A run's figures for one scorer. `n` outputs are scored; a missing figure is None.

    `pairs`, `fixed` and `broke` compare the scorer's own verdicts with those at the point before,
    `cases` those over all scorers; None for the first point and until they are counted.
    """

    run: str  # uuid
    label: str  # the run's name, with its date where several runs have it
    dated: datetime
    series_time: datetime
    n: int
    mean: float | None
    interval: tuple[float, float] | None
    pass_rate: float | None
    threshold: float
    unscored: int  # errors, skips and missing outputs
    scorer_version: int
    dataset_version: int
    breaks: Sequence[Break]
    before: str | None  # uuid of the run of the point before
    pairs: int | None
    fixed: int | None
    broke: int | None
    cases: FlipCounts | None
    similarity: float | None  # of the outputs to the reference's
    compared: int
    distinct: float | None  # share of the outputs looked at
    tags: Mapping[str, TagFigure]
    is_baseline: bool
    has_suite: bool  # only runs of a suite can have later labels
    is_fresh: bool  # whether the figures of tags and texts hold
    step: Sequence[float] | None  # n, mean, low, high, p against the run before; maybe out of date
    detectable: float | None  # the drop the next run's test would find; maybe out of date
    sampled: int  # texts looked at, and how many of them are the commonest one
    commonest: int

    @property
    def is_cut_off(self) -> bool:
        """Whether means from here on are not comparable with those before."""
        return any(change.parts for change in self.breaks)


class PointRow(NamedTuple):
    """The fields of FIELDS; those of `drift` are None before measuring."""

    run_id: int
    scorer: str
    threshold: float
    run: UUID
    dated: datetime
    series_time: datetime
    scorer_version: int
    dataset_version: int | None
    scored: int
    n: int
    passed: int
    mean: float | None
    variance: float | None
    holds: int  # 1 unless the run was scored again since its drift was measured
    reference: int | None
    tags: Mapping[str, Mapping[str, list[float]]] | None
    similarity: float | None
    compared: int | None
    commonest: int | None
    step: list[float] | None
    detectable: float | None
    suite_name: str


FIELDS: Final = (
    "run_id", "name", "threshold", "run__uuid", "run__output_set__dated",
    "run__output_set__series_time", "version__number",
    "run__output_set__version__number", "summary__scored", "summary__n",
    "summary__passed", "summary__mean", "summary__variance", "drift_holds", "run__drift__reference",
    "run__drift__tags", "run__drift__similarity", "run__drift__compared", "run__drift__commonest",
    "drift_result__step", "drift_result__detectable", "run__suite_name",
)  # fmt: skip


def point_rows(scorers: Sequence[int]) -> dict[int, PointRow]:
    """The rows of the scorers of runs with these ids, by id."""
    return {pk: PointRow._make(fields) for pk, *fields in _columns(scorers)}


@prepared_query
def _columns(scorers: Sequence[int]) -> QuerySet[RunScorer, Any]:
    same = When(run__drift__run_finished_at=F("run__finished_at"), then=Value(1))
    holds = Case(same, default=Value(0), output_field=IntegerField())
    rows = RunScorer.objects.filter(pk__in=scorers).annotate(drift_holds=holds)
    return rows.values_list("pk", *FIELDS)


def build_point(
    row: PointRow,
    before: PointRow | None,
    step: CountedStep | None,
    run: LineRun,
    reference: ReferenceRun,
) -> Point:
    """The point of a row, after the one `before` on its line, and the step between the two."""
    estimate = estimate_from_moments(row.scored, row.mean, row.variance)
    is_compared = row.reference == reference.output_set
    flips = step.flips_of(row.scorer) if step else None
    return Point(
        run=str(row.run),
        label=run.label,
        dated=row.dated,
        series_time=row.series_time,
        n=row.scored,
        mean=row.mean,
        interval=estimate.interval if estimate else None,
        pass_rate=row.passed / row.scored if row.scored else None,
        threshold=row.threshold,
        unscored=row.n - row.scored,
        scorer_version=row.scorer_version,
        dataset_version=row.dataset_version or 0,
        breaks=run.breaks,
        before=str(before.run) if before else None,
        pairs=flips.pairs if flips else None,
        fixed=flips.fixed if flips else None,
        broke=flips.broke if flips else None,
        cases=step.flips if step else None,
        similarity=row.similarity if is_compared else None,
        compared=(row.compared or 0) if is_compared else 0,
        distinct=run.distinct_share,
        tags=_tags((row.tags or {}).get(row.scorer, {})) if row.holds else {},
        is_baseline=reference.is_pinned and row.run_id == reference.run,
        has_suite=bool(row.suite_name),
        is_fresh=bool(row.holds) and is_compared and row.commonest is not None,
        step=row.step,
        detectable=row.detectable,
        sampled=run.sampled or 0,
        commonest=run.commonest or 0,
    )


def _tags(kept: Mapping[str, list[float]]) -> dict[str, TagFigure]:
    return {tag: TagFigure(int(n), mean, rate) for tag, (n, mean, rate) in kept.items()}
