"""The head and tabs of a dataset's pages."""

from __future__ import annotations

from functools import partial
from typing import Any

from evalsite import access
from evalsite.pages.web.responses import SignedInRequest
from scoring.models import Dataset, Draft, OutputSet, Run, Waiver
from scoring.models.runs.run import OutputSetQuerySet, RunQuerySet


def dataset_frame(request: SignedInRequest, dataset: Dataset, tab: str) -> dict[str, Any]:
    """The context of a dataset's head and tabs, with `tab` as the current one."""
    return {
        "team": dataset.team,
        "dataset": dataset,
        "tab": tab,
        **access.permissions(request.user, dataset.team),
        "draft": partial(Draft.objects.open_of, dataset),
        "open_corrections": dataset.corrections.open().count(),
        "version_count": dataset.versions.count(),
        "output_set_count": dataset_output_sets(dataset).count(),
        "run_count": dataset_runs(dataset).count(),
        "waiver_count": Waiver.objects.open().filter(dataset=dataset).count(),
    }


def dataset_output_sets(dataset: Dataset) -> OutputSetQuerySet:
    return OutputSet.objects.whole().filter(version__dataset=dataset)


def dataset_runs(dataset: Dataset) -> RunQuerySet:
    return Run.objects.filter(output_set__version__dataset=dataset)
