"""Removal of what a failed, cancelled or killed import leaves."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final

from django.db import connection, models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from scoring.engine.imports import upload_storage
from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import do_each
from scoring.models import (
    Adjudication,
    Case,
    Comment,
    Dataset,
    DatasetVersion,
    Draft,
    Job,
    JobKind,
    Output,
    OutputSet,
    OutputSetState,
    Preference,
    Review,
    ReviewTask,
    Upload,
    UploadState,
    VersionState,
)
from scoring.models.data.upload import WAITING

ROWS_PER_TRANSACTION: Final = 5_000
#: Rows without an upload are not removed for so long, as a request may be storing them.
GRACE: Final = timedelta(seconds=60)
WAITING_FOR_PEOPLE: Final = timedelta(days=1)  # until an upload nobody imports is cancelled
#: Jobs that load a version or an output set of the dataset they name.
LOADING_JOBS: Final = (JobKind.APPROVE_CORRECTIONS, JobKind.CARRY_OVER, JobKind.SCORE_AGAIN)


def remove_abandoned() -> None:
    """Remove what killed processes have left, but nothing that a live process works on."""
    now = timezone.now()
    waiting = Upload.objects.filter(state__in=WAITING)
    waiting.filter(created_at__lt=now - WAITING_FOR_PEOPLE).update(state=UploadState.CANCELLED)
    busy = _busy_datasets()
    _give_up_abandoned(busy)
    old = now - GRACE
    datasets = Dataset.objects.exclude(pk__in=busy)
    _remove_loading(datasets, Q(created_at__lt=old))
    empty = datasets.filter(latest=None, created_at__lt=old)
    do_each(empty, remove_empty_dataset, "removing an empty dataset")
    upload_storage.delete_unused_files()


def _give_up_abandoned(busy: Collection[int]) -> None:
    """Remove imports of the command line, which have no file in the spool to be tried again."""
    of_commands = Upload.objects.filter(
        state=UploadState.LOADING, stored_name__endswith=upload_storage.EXTERNAL
    )
    for upload in of_commands.exclude(pk__in=_leased_uploads()).select_related("dataset"):
        upload.delete()
        if upload.dataset and upload.dataset.pk not in busy:
            datasets = Dataset.objects.filter(pk=upload.dataset.pk)
            _remove_loading(datasets, Q(created_at__gte=upload.created_at))
            remove_empty_dataset(upload.dataset)


def _remove_loading(datasets: QuerySet[Dataset], condition: Q) -> None:
    """Remove versions and output sets of these datasets that are loading and meet the condition.

    Output sets with a run are kept: the run waits for them.
    """
    versions = DatasetVersion.with_loading.filter(condition, dataset__in=datasets)
    loading = versions.filter(state=VersionState.LOADING)
    do_each(loading, remove_version, "removing a version")
    sets = OutputSet.objects.filter(condition, version__dataset__in=datasets, runs=None)
    loading_sets = sets.filter(state=OutputSetState.LOADING)
    do_each(loading_sets, remove_output_set, "removing an output set")


def remove_version(version: DatasetVersion) -> None:
    """Remove a version that is still loading, its rows, and its dataset if it has nothing else."""
    for output_set in version.output_sets.all():
        remove_output_set(output_set)
    _delete_rows(Case, "version_id", version.pk)
    versions = DatasetVersion.with_loading.filter(pk=version.pk, state=VersionState.LOADING)
    _delete_with_late_rows(versions)
    remove_empty_dataset(version.dataset)


def remove_dataset(dataset: Dataset) -> None:
    """Remove a dataset with all its rows; runs of it must be gone."""
    Dataset.with_deleted.filter(pk=dataset.pk).update(latest=None)
    versions = DatasetVersion.with_loading.filter(dataset=dataset)
    versions.update(state=VersionState.LOADING, number=None)
    for version in versions:
        version.output_sets.update(state=OutputSetState.LOADING)
        remove_version(version)
    remove_empty_dataset(dataset)


def remove_output_set(output_set: OutputSet) -> None:
    """Remove an output set that is still loading, its rows, and what people said of them."""
    for said in (Review, ReviewTask, Adjudication):
        said.objects.filter(output__output_set=output_set).delete()
    Preference.objects.filter(candidate__output_set=output_set).delete()
    Preference.objects.filter(baseline__output_set=output_set).delete()
    Comment.with_deleted.filter(output__output_set=output_set).delete()
    _delete_rows(Output, "output_set_id", output_set.pk)
    sets = OutputSet.objects.filter(pk=output_set.pk, state=OutputSetState.LOADING)
    _delete_with_late_rows(sets)


def remove_empty_dataset(dataset: Dataset) -> None:
    """Remove a dataset without any version, unless it has an open upload."""
    with transaction.atomic():
        row = Dataset.with_deleted.select_for_update().filter(pk=dataset.pk, latest=None).first()
        if row is None or row.uploads.unfinished().exists():
            return
        if not DatasetVersion.with_loading.filter(dataset=row).exists():
            row.delete()


def _busy_datasets() -> list[int]:
    """The datasets that a live process imports into or publishes a draft of, or a job loads."""
    working = Upload.objects.filter(state=UploadState.LOADING).exclude(dataset=None)
    held = list(working.filter(pk__in=_leased_uploads()).values_list("dataset", flat=True))
    publishing = Draft.objects.filter(is_publishing=True).values_list("dataset", flat=True)
    jobs = Job.objects.unfinished().filter(kind__in=LOADING_JOBS)
    uuids = [job.request["dataset"] for job in jobs.only("request")]
    loaded = Dataset.objects.filter(uuid__in=uuids).values_list("pk", flat=True)
    return [*held, *publishing, *loaded]


def _leased_uploads() -> list[int]:
    """Those that a living process imports."""
    uploads = Upload.objects.filter(lease.is_current(), state=UploadState.LOADING)
    return [upload.pk for upload in uploads if not lease.is_dead(upload.lease_owner)]


def _delete_with_late_rows(parents: QuerySet[Any]) -> None:
    """Delete these with the rows that an import still going on has stored since; it then fails."""
    with transaction.atomic():
        for parent in parents.select_for_update():
            parent.delete()


def _delete_rows(model: type[models.Model], column: str, value: int) -> None:
    """Delete the parent's rows in short transactions, so that other writers get their turn."""
    quote = connection.ops.quote_name
    table, name = quote(model._meta.db_table), quote(column)
    batch = f"SELECT id FROM {table} WHERE {name} = %s LIMIT {ROWS_PER_TRANSACTION}"  # noqa: S608  names from the code
    removed = True
    while removed:
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} WHERE id IN ({batch})", [value])  # noqa: S608
            removed = cursor.rowcount > 0
