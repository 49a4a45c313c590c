"""The head and tabs of a dataset's pages."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet

from evalsite import access
from evalsite.pages.web.responses import SignedInRequest
from scoring.models import Correction, Dataset, DatasetVersion, Draft, OutputSet, Run, Waiver
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import OutputSetQuerySet, RunQuerySet
from scoring.models.subqueries import count_rows


def dataset_frame(request: SignedInRequest, dataset: Dataset, tab: str) -> dict[str, Any]:
    """The context of a dataset's head and tabs, with `tab` as the current one."""
    return {
        "team": dataset.team,
        "dataset": dataset,
        "tab": tab,
        **access.permissions(request.user, dataset.team),
        "draft": partial(Draft.objects.open_of, dataset),
        **(_counts.first(dataset.pk) or {}),
    }


@prepared_query
def _counts(dataset: int) -> QuerySet[Dataset, Any]:
    output_sets = OutputSet.objects.whole().filter(version__dataset=dataset)
    return Dataset.objects.filter(pk=dataset).values(
        open_corrections=count_rows(Correction.objects.open().filter(dataset=dataset)),
        version_count=count_rows(DatasetVersion.objects.filter(dataset=dataset)),
        output_set_count=count_rows(output_sets),
        run_count=count_rows(Run.objects.filter(output_set__version__dataset=dataset)),
        waiver_count=count_rows(Waiver.objects.open().filter(dataset=dataset)),
    )


def dataset_output_sets(dataset: Dataset) -> OutputSetQuerySet:
    return OutputSet.objects.whole().filter(version__dataset=dataset)


def dataset_runs(dataset: Dataset) -> RunQuerySet:
    return Run.objects.filter(output_set__version__dataset=dataset)
