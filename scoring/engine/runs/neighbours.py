"""The runs before and after a run in its series, and its baseline."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from scoring.models import Run, RunState
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import NEWEST_FIRST, RunQuerySet, identity_of

_JOINED = "output_set__version__dataset"
_NEXT_FIRST = ("output_set__series_time", "outputs", "-pk")


def run_baseline(run: Run, scorer: str = "", since: Run | None = None) -> Run | None:
    """The run pinned for the series, else `since` if its outputs are earlier, else the previous
    run, where a scorer is named of those that have it.
    """
    outputs = run.output_set
    pinned = _pinned_runs.first(outputs.version.dataset_id, outputs.series)
    if pinned and pinned != run:
        return pinned
    if since and since.deleted_at is None and _outputs_key(since) < _outputs_key(run):
        return since
    return previous_run(run, scorer)


@prepared_query
def _pinned_runs(dataset: int, series: str) -> QuerySet[Run]:
    runs = Run.with_deleted.filter(pins__dataset=dataset, pins__series=series)
    return runs.select_related(_JOINED)


def previous_run(run: Run, scorer: str = "") -> Run | None:
    """The first of `earlier_runs`, where a scorer is named of those that have it."""
    place = series_place(run)
    return _last_scored_before.first(scorer, *place) if scorer else _last_before.first(*place)


@prepared_query
def _last_before(dataset: int, series: str, time: datetime, outputs: int) -> QuerySet[Run]:
    return runs_before(dataset, series, time, outputs).select_related(_JOINED)[:1]


@prepared_query
def _last_scored_before(
    scorer: str, dataset: int, series: str, time: datetime, outputs: int
) -> QuerySet[Run]:
    runs = runs_before(dataset, series, time, outputs).filter(scorers__name=scorer)
    return runs.select_related(_JOINED)[:1]


def earlier_runs(run: Run) -> RunQuerySet:
    """The finished runs over earlier outputs of the same dataset and series, the newest outputs
    first and of the same outputs the newest run.

    A run over the same outputs is no step in time, so it is neither earlier nor later, whatever
    version of the dataset it is over.
    """
    return runs_before(*series_place(run))


def runs_before(dataset: int, series: str, time: datetime, outputs: int) -> RunQuerySet:
    """As `earlier_runs`, of a run at the `series_place` that the arguments name."""
    is_earlier = Q(output_set__series_time__lt=time)
    is_earlier |= Q(output_set__series_time=time, outputs__lt=outputs)
    return _of_series(dataset, series).filter(is_earlier).order_by(*NEWEST_FIRST)


def next_run(run: Run) -> Run | None:
    """The newest finished run over the next outputs of the same dataset and series."""
    time, outputs = _outputs_key(run)
    is_later = Q(output_set__series_time__gt=time)
    is_later |= Q(output_set__series_time=time, outputs__gt=outputs)
    later = _of_series(run.output_set.version.dataset_id, run.output_set.series).filter(is_later)
    ordered = later.order_by(*_NEXT_FIRST)
    return ordered.select_related(_JOINED).first()


def series_key(run: Run) -> tuple[datetime, int, int]:
    """By which the runs of a series are sorted in time; as NEWEST_FIRST and OLDEST_FIRST."""
    return (*_outputs_key(run), run.pk)


def series_place(run: Run) -> tuple[int, str, datetime, int]:
    """Its dataset and series, and what sorts the runs of one: time and identity of its outputs."""
    outputs = run.output_set
    return outputs.version.dataset_id, outputs.series, *_outputs_key(run)


def _outputs_key(run: Run) -> tuple[datetime, int]:
    return run.output_set.series_time, run.output_set.identity


def _of_series(dataset: int, series: str) -> RunQuerySet:
    """The finished runs of a series, with `outputs`, the identity of their output sets."""
    runs = Run.objects.filter(output_set__version__dataset=dataset, output_set__series=series)
    finished = runs.filter(state=RunState.FINISHED)
    return finished.annotate(outputs=identity_of("output_set"))
