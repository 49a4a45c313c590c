"""The runs before and after a run in its series, and its baseline."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from scoring.models import Baseline, Run, RunState
from scoring.models.runs.run import NEWEST_FIRST, RunQuerySet, identity_of

_JOINED = "output_set__version__dataset"
_NEXT_FIRST = ("output_set__series_time", "outputs", "-pk")


def run_baseline(run: Run, scorer: str = "", since: Run | None = None) -> Run | None:
    """The run pinned for the series, else `since` if its outputs are earlier, else the previous
    run, where a scorer is named of those that have it.
    """
    others = Baseline.objects.of(run).exclude(run=run)
    if pinned := others.select_related(f"run__{_JOINED}").first():
        return pinned.run
    if since and since.deleted_at is None and _outputs_key(since) < _outputs_key(run):
        return since
    return previous_run(run, scorer)


def previous_run(run: Run, scorer: str = "") -> Run | None:
    """The first of `earlier_runs`, where a scorer is named of those that have it."""
    runs = earlier_runs(run)
    runs = runs.filter(scorers__name=scorer) if scorer else runs
    return runs.select_related(_JOINED).first()


def earlier_runs(run: Run) -> RunQuerySet:
    """The finished runs over earlier outputs of the same dataset and series, the newest outputs
    first and of the same outputs the newest run.

    A run over the same outputs is no step in time, so it is neither earlier nor later, whatever
    version of the dataset it is over.
    """
    time, outputs = _outputs_key(run)
    is_earlier = Q(output_set__series_time__lt=time)
    is_earlier |= Q(output_set__series_time=time, outputs__lt=outputs)
    return _of_series(run).filter(is_earlier).order_by(*NEWEST_FIRST)


def next_run(run: Run) -> Run | None:
    """The newest finished run over the next outputs of the same dataset and series."""
    time, outputs = _outputs_key(run)
    is_later = Q(output_set__series_time__gt=time)
    is_later |= Q(output_set__series_time=time, outputs__gt=outputs)
    later = _of_series(run).filter(is_later)
    ordered = later.order_by(*_NEXT_FIRST)
    return ordered.select_related(_JOINED).first()


def series_key(run: Run) -> tuple[datetime, int, int]:
    """By which the runs of a series are sorted in time; as NEWEST_FIRST and OLDEST_FIRST."""
    return (*_outputs_key(run), run.pk)


def _outputs_key(run: Run) -> tuple[datetime, int]:
    return run.output_set.series_time, run.output_set.identity


def _of_series(run: Run) -> RunQuerySet:
    """The finished runs of its series, with `outputs`, the identity of their output sets."""
    outputs = run.output_set
    runs = Run.objects.of_dataset(outputs.version.dataset)
    runs = runs.filter(output_set__series=outputs.series, state=RunState.FINISHED)
    return runs.annotate(outputs=identity_of("output_set"))
