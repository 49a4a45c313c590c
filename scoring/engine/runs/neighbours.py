"""The runs before and after a run in its series, and its baseline."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from scoring.models import Baseline, Run, RunState


def run_baseline(run: Run) -> Run | None:
    """The run pinned for the series, else the previous one."""
    others = Baseline.objects.of(run).exclude(run=run)
    pinned = others.select_related("run__output_set__version__dataset").first()
    return pinned.run if pinned else previous_run(run)


def previous_run(run: Run) -> Run | None:
    """The latest earlier finished run of the same dataset and series."""
    dated = run.output_set.dated
    is_earlier = Q(output_set__dated__lt=dated) | Q(output_set__dated=dated, pk__lt=run.pk)
    return _others(run).filter(is_earlier).order_by("-output_set__dated", "-pk").first()


def next_run(run: Run) -> Run | None:
    """The first later finished run of the same dataset and series."""
    dated = run.output_set.dated
    is_later = Q(output_set__dated__gt=dated) | Q(output_set__dated=dated, pk__gt=run.pk)
    return _others(run).filter(is_later).order_by("output_set__dated", "pk").first()


def _others(run: Run) -> QuerySet[Run]:
    """The other finished runs of its dataset and series."""
    outputs = run.output_set
    finished = Run.objects.of_dataset(outputs.version.dataset).filter(
        output_set__series=outputs.series, state=RunState.FINISHED
    )
    return finished.exclude(pk=run.pk).select_related("output_set__version__dataset")
