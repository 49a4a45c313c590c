"""The addresses of datasets and their versions, cases and output sets."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.datasets import lifecycle, suite, version_changes
from evalsite.pages.datasets import views as datasets

urlpatterns = [
    path("teams/<slug:slug>/datasets/", datasets.datasets, name="datasets"),
    path("datasets/<uuid:uid>/", datasets.cases, name="dataset"),
    path("datasets/<uuid:uid>/versions/", datasets.versions, name="dataset_versions"),
    path(
        "datasets/<uuid:uid>/versions/<int:number>/export/",
        datasets.export_version,
        name="export_version",
    ),
    path("outputs/<uuid:uid>/export/", datasets.export_outputs, name="export_outputs"),
    path("datasets/<uuid:uid>/outputs/", datasets.output_sets, name="dataset_outputs"),
    path("datasets/<uuid:uid>/runs/", datasets.runs, name="dataset_runs"),
    path("datasets/<uuid:uid>/cases/<int:position>/", datasets.case, name="dataset_case"),
    path("datasets/<uuid:uid>/changes/", version_changes.changes, name="version_changes"),
    path("datasets/<uuid:uid>/rename/", lifecycle.rename_dataset, name="rename_dataset"),
    path("datasets/<uuid:uid>/archive/", lifecycle.archive_dataset, name="archive_dataset"),
    path("datasets/<uuid:uid>/unarchive/", lifecycle.unarchive_dataset, name="unarchive_dataset"),
    path("datasets/<uuid:uid>/delete/", lifecycle.delete_dataset, name="delete_dataset"),
    path("datasets/<uuid:uid>/restore/", lifecycle.restore_dataset, name="restore_dataset"),
    path("datasets/<uuid:uid>/suite/", suite.choose_suite, name="dataset_suite"),
    path("datasets/<uuid:uid>/carve/", version_changes.split_version, name="carve"),
]
