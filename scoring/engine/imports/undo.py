"""Undo of an import: for a day, and as long as nothing rests on what it added."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from scoring.engine.imports import cleanup
from scoring.models import (
    AuditEntry,
    Correction,
    Dataset,
    DatasetVersion,
    Draft,
    OutputSet,
    OutputSetState,
    Run,
    Upload,
    UploadKind,
    UploadState,
    User,
    VersionState,
)
from scoring.models.data.upload import WORKING

UNDO_WINDOW: Final = timedelta(days=1)  # after the import
MAX_LISTED: Final = 10  # recent imports that are looked at


class ImportedRows(NamedTuple):
    """What an import added: a version where its cases were new, and output sets."""

    version: DatasetVersion | None
    output_sets: list[OutputSet]

    @property
    def imported_at(self) -> datetime | None:
        times = [outputs.created_at for outputs in self.output_sets]
        if self.version and self.version.published_at:
            times.append(self.version.published_at)
        return max(times, default=None)


def imported_rows(upload: Upload) -> ImportedRows:
    """What the upload's import added; nothing where it was not imported, or undone."""
    if upload.state != UploadState.DONE:
        return ImportedRows(None, [])
    uids = upload.report.get("output_sets", [])
    sets = OutputSet.objects.filter(uuid__in=uids, version__dataset=upload.dataset)
    return ImportedRows(upload.version if _made_version(upload) else None, list(sets))


def _made_version(upload: Upload) -> bool:
    """Whether the import made its version, rather than found one with the same cases."""
    version = upload.version
    if upload.kind != UploadKind.DATASET or version is None or version.published_at is None:
        return False
    earlier = version.uploads.filter(pk__lt=upload.pk)
    return version.published_at >= upload.created_at and not earlier.exists()


def can_undo(upload: Upload) -> bool:
    """Whether the import was less than UNDO_WINDOW ago, and is not undone."""
    at = imported_rows(upload).imported_at
    return at is not None and timezone.now() - at < UNDO_WINDOW


def undoable_imports(dataset: Dataset) -> list[Upload]:
    """The imports into the dataset that can be undone now, the latest first."""
    since = timezone.now() - cleanup.WAITING_FOR_PEOPLE - UNDO_WINDOW
    recent = dataset.uploads.filter(state=UploadState.DONE, created_at__gt=since)
    uploads = recent.select_related("version").order_by("-pk")[:MAX_LISTED]
    return [one for one in uploads if can_undo(one) and not find_obstacle(imported_rows(one))]


def undo_import(upload: Upload, by: User | None) -> None:
    """Hide at once what the import added; the worker removes its rows.

    Raises ValidationError where that is too late, or something rests on it.
    """
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload.pk)
        if not can_undo(upload):
            raise ValidationError("Nothing to undo: the import is over a day old, or undone.")
        added = imported_rows(upload)
        own = OutputSet.objects.filter(pk__in=[outputs.pk for outputs in added.output_sets])
        list(own.select_for_update())  # so that no run of them is planned meanwhile
        if obstacle := find_obstacle(added):
            raise ValidationError(obstacle)
        number = added.version and added.version.number
        if added.version:
            _take_back(added.version)
        own.update(state=OutputSetState.LOADING)
        upload.state = UploadState.UNDONE
        upload.save(update_fields=["state"])
        target = added.version.dataset if added.version else added.output_sets[0]
        old = {"file": upload.file_name, "version": number}
        AuditEntry.objects.record(upload.team, by, "import.undone", target, old=old)


def find_obstacle(added: ImportedRows) -> str:
    """What rests on the rows, in a sentence; "" for nothing."""
    runs = Run.with_deleted.filter(output_set__in=added.output_sets).count()
    if runs:
        what = "1 run scores" if runs == 1 else f"{runs:,} runs score"
        return f"{what} the imported outputs, so they stay."
    return _find_obstacle_of(added.version, added.output_sets) if added.version else ""


def _find_obstacle_of(version: DatasetVersion, own: Collection[OutputSet]) -> str:
    """What rests on the version besides its own output sets, in a sentence; "" for nothing."""
    later = DatasetVersion.objects.filter(dataset=version.dataset, number__gt=version.number or 0)
    if newest := later.first():
        return f"Version {newest.number} was made since, so version {version.number} stays."
    if version.dataset.uploads.filter(state__in=WORKING).exists():
        return "An upload into this dataset is under way: wait for its end, or cancel it."
    others = version.output_sets.exclude(state=OutputSetState.LOADING)
    if others.exclude(pk__in=[outputs.pk for outputs in own]).exists():
        return f"Other outputs answer version {version.number}, so it stays."
    is_edited = Draft.objects.filter(based_on=version).exists()
    if is_edited or Correction.objects.filter(base=version).exists():
        return f"A draft or a correction is based on version {version.number}, so it stays."
    return ""


def _take_back(version: DatasetVersion) -> None:
    """Make the version before this one the latest again."""
    dataset = Dataset.objects.select_for_update().get(pk=version.dataset_id)
    version.state, version.number = VersionState.LOADING, None
    version.save(update_fields=["state", "number"])
    dataset.latest = DatasetVersion.objects.filter(dataset=dataset).order_by("-number").first()
    dataset.save(update_fields=["latest"])
