"""Uploads: mapped by a person, checked, then loaded by the worker; and imports of commands."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack
from uuid import uuid4

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from scoring.core import disk_full
from scoring.core.files import FileProblem, NearDuplicates
from scoring.core.files.columns.slots import case_slots, output_slots
from scoring.core.files.disk_problem import reporting_disk_full
from scoring.core.lost_connection import is_lost
from scoring.core.names import as_one_line
from scoring.engine.imports import cleanup, upload_storage, writer
from scoring.engine.imports.case_writer import CaseWriter, OutputWriter
from scoring.engine.imports.rate_estimator import RateEstimator
from scoring.engine.imports.reader import (
    FileOptions,
    OpenFile,
    open_file,
    read_file_options,
    resolve_options,
)
from scoring.engine.imports.report import ImportReport, RefusedError, StoppedError
from scoring.engine.imports.writer import ImportOrigin, ImportResult
from scoring.engine.jobs import lease
from scoring.models import Dataset, DatasetVersion, Team, Upload, UploadKind, UploadState, User
from scoring.models.data.upload import WAITING, WORKING

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS: Final = 0.5
_NOT_BEGUN: Final = {"row_count": 0, "share_read": 0.0, "rows_a_second": None, "seconds_left": None}

Choices = Mapping[str, Sequence[str]]


class ImportObserver(NamedTuple):
    """Called with what is detected before any row is read, and then with the rows read so far."""

    on_reading: Callable[[OpenFile], None] = lambda _: None
    on_progress: Callable[[int], None] = lambda _: None


_UNWATCHED: Final = ImportObserver()


def request_check(
    upload: Upload, choices: Choices | None = None, **options: Unpack[FileOptions]
) -> bool:
    """Store the mapping and let the worker check it; False when the upload is past that.

    Raises FileProblem when the file cannot be read this way, or lacks a column.
    """
    fields = _describe_reading(upload, choices, options)
    return _move(upload, WAITING, UploadState.CHECKING, **_NOT_BEGUN, **fields)


def is_as_checked(
    upload: Upload, choices: Choices | None = None, **options: Unpack[FileOptions]
) -> bool:
    """Whether the last check read the file with this mapping, in this way.

    Raises FileProblem as `request_check` does.
    """
    stored = {"mapping": upload.mapping, "detected": upload.detected}
    wanted = _describe_reading(upload, choices, options)
    return json.dumps(stored, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def _describe_reading(
    upload: Upload, choices: Choices | None, options: FileOptions
) -> dict[str, Any]:
    """The mapping and what is detected, as an upload keeps them. Raises FileProblem."""
    reading = open_file(
        upload_storage.fetch_file(upload),
        upload.file_name,
        kind=upload.kind,
        choices=choices,
        options=options,
    )
    return {"mapping": reading.columns.choices(), "detected": reading.described()}


def request_load(upload: Upload, *, skips_bad_rows: bool = False) -> bool:
    """Let the worker store the rows; False when the upload is past that.

    `upload.dataset` is created, though it shows only once it has a version.
    """
    report = {**upload.report, "skips_bad_rows": skips_bad_rows}
    with transaction.atomic():
        requested = _move(upload, WAITING, UploadState.LOADING, report=report, **_NOT_BEGUN)
        if requested and upload.kind == UploadKind.DATASET and upload.dataset is None:
            _name_dataset(upload)
    return requested


def cancel_upload(upload: Upload) -> bool:
    """Cancel the upload; False when it has ended. A process at work stops at its next beat."""
    cancelled = _move(upload, (*WAITING, *WORKING), UploadState.CANCELLED)
    if cancelled:
        upload_storage.delete_file(upload)
        if upload.dataset and not upload.lease_owner:
            cleanup.remove_empty_dataset(upload.dataset)
    return cancelled


def check_upload(upload: Upload) -> None:
    """The dry run: reads every row as `import_upload` does, stores none, and leaves its report.

    The caller has the upload's lease; cancelling ends the dry run.
    """
    report = ImportReport()
    try:
        reading = _open_upload(upload)
        rows = _dry_writer(upload, reading, report)
        writer.write_rows(reading, rows, ProgressWriter(upload))
        rows.finish()
        if isinstance(rows, OutputWriter):
            report.identical_outputs = writer.identical_outputs(rows)
    except FileProblem as fault:
        report.add_fatal(fault)
    except StoppedError:
        return
    if upload.kind == UploadKind.DATASET:
        _find_identical_version(report, upload.dataset)
    _end(upload, UploadState.CHECKED, report)


def import_upload(upload: Upload) -> None:
    """Store the upload's rows, all or none, and leave the state `done` or `failed`.

    The caller has the upload's lease; cancelling ends the import and removes what it has stored.
    Raises where the server of the database is lost: the upload can be read again.
    """
    report = ImportReport()
    try:
        _load(upload)
    except StoppedError:
        log.info("upload %s was stopped", upload.uuid)
    except RefusedError as refused:
        _fail(upload, refused.report)
    except FileProblem as fault:
        report.add_fatal(fault)
        _fail(upload, report)
    except (DatabaseError, OSError) as fault:
        if is_lost(fault):
            raise
        log.exception("upload %s could not be stored", upload.uuid)
        report.add_fatal(_unstorable(fault))
        _fail(upload, report)
    else:
        upload_storage.delete_file(upload)


@reporting_disk_full()
def import_file(
    team: Team,
    path: Path,
    dataset_name: str,
    choices: Choices | None = None,
    *,
    options: FileOptions | None = None,
    by: User | None = None,
    skips_bad_rows: bool = False,
    watch: ImportObserver = _UNWATCHED,
) -> ImportResult:
    """A file of the command line as a new version of the team's dataset of that name.

    Raises FileProblem or RefusedError; nothing is then stored.
    """
    reading = _open_file(path, UploadKind.DATASET, choices, options)
    watch.on_reading(reading)
    with transaction.atomic():
        dataset = writer.get_or_create_dataset(team, dataset_name, by)
        upload = _create_loading(team, path, UploadKind.DATASET, by, dataset=dataset)
    origin = _origin(upload, by, watch.on_progress)
    try:
        return writer.store_dataset(reading, dataset, origin, skips_bad_rows=skips_bad_rows)
    except BaseException:
        upload.delete()
        cleanup.remove_empty_dataset(dataset)
        raise


@reporting_disk_full()
def inspect_upload(
    team: Team,
    path: Path,
    dataset_name: str,
    choices: Choices | None = None,
    options: FileOptions | None = None,
    watch: ImportObserver = _UNWATCHED,
) -> ImportReport:
    """The dry run of `import_file`: reads every row, stores none. Raises FileProblem."""
    reading = _open_file(path, UploadKind.DATASET, choices, options)
    watch.on_reading(reading)
    report = ImportReport(slots=case_slots(reading.columns))
    cases = CaseWriter(report, near=NearDuplicates())
    writer.write_rows(reading, cases, lambda rows, _: watch.on_progress(rows))
    cases.finish()
    dataset = Dataset.objects.filter(team=team, name=dataset_name).first()
    _find_identical_version(report, dataset)
    return report


@reporting_disk_full()
def import_outputs_file(
    version: DatasetVersion,
    path: Path,
    series: str = "",
    dated: datetime | None = None,
    choices: Choices | None = None,
    *,
    options: FileOptions | None = None,
    by: User | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ImportResult:
    """A file of the command line as output sets over the version, matched by case key.

    Raises FileProblem or RefusedError; nothing is then stored.
    """
    reading = _open_file(path, UploadKind.OUTPUTS, choices, options)
    dataset = version.dataset
    upload = _create_loading(dataset.team, path, UploadKind.OUTPUTS, by, dataset=dataset)
    try:
        origin = _origin(upload, by, on_progress, series=series, dated=dated)
        return writer.store_outputs_file(reading, version, origin)
    except BaseException:
        upload.delete()
        raise


class ProgressWriter:
    """Stores the progress of an upload, and raises StoppedError where the work is to stop."""

    def __init__(self, upload: Upload, on_progress: Callable[[int], None] = lambda _: None) -> None:
        self._upload, self._on_progress = upload, on_progress
        self._next = time.monotonic() + HEARTBEAT_SECONDS
        self._is_through = False
        self._estimator = RateEstimator()

    def __call__(self, row_count: int, share: float) -> None:
        if time.monotonic() < self._next and (share < 1 or self._is_through):
            return
        self._next = time.monotonic() + HEARTBEAT_SECONDS
        self._is_through = share >= 1
        fields: dict[str, Any] = {"row_count": row_count, "share_read": share}
        fields["rows_a_second"], fields["seconds_left"] = self._estimator.pace(row_count, share)
        if self._upload.lease_owner:
            fields["lease_expires_at"] = Now() + lease.DURATION
        self.note(**fields)
        self._on_progress(row_count)

    def note(self, **fields: Any) -> None:
        """Change the upload. Raises StoppedError unless its state and lease are unchanged."""
        upload = self._upload
        ours = Upload.objects.filter(
            pk=upload.pk, state=upload.state, lease_owner=upload.lease_owner
        )
        if not ours.update(**fields):
            raise StoppedError


def _load(upload: Upload) -> ImportResult:
    reading = _open_upload(upload)
    origin = _origin(upload, upload.created_by, series=upload.series, dated=upload.dated)
    skips_bad_rows = bool(upload.report.get("skips_bad_rows"))
    if upload.kind == UploadKind.OUTPUTS:
        version = _version_of(upload)
        return writer.store_outputs_file(reading, version, origin, skips_bad_rows=skips_bad_rows)
    dataset = upload.dataset or _name_dataset(upload)
    return writer.store_dataset(reading, dataset, origin, skips_bad_rows=skips_bad_rows)


def _name_dataset(upload: Upload) -> Dataset:
    with transaction.atomic():
        name = upload.dataset_name or as_one_line(upload.file_name) or "dataset"
        dataset = writer.get_or_create_dataset(upload.team, name, upload.created_by)
        ProgressWriter(upload).note(dataset=dataset)
    upload.dataset = dataset
    return dataset


def _origin(
    upload: Upload,
    by: User | None,
    on_progress: Callable[[int], None] = lambda _: None,
    series: str = "",
    dated: datetime | None = None,
) -> ImportOrigin:
    progress = ProgressWriter(upload, on_progress)

    def end(version: DatasetVersion, report: ImportReport) -> None:
        report.near = upload.report.get("near", [])  # found by the dry run
        report.near_count = upload.report.get("near_count", 0)
        report.is_near_known = "near" in upload.report
        released = {"lease_owner": "", "lease_expires_at": None}
        fields = _report_fields(report)
        progress.note(state=UploadState.DONE, version=version, **released, **fields)

    return ImportOrigin(by=by, beat=progress, on_publish=end, series=series, dated=dated)


def _open_file(
    path: Path, kind: UploadKind, choices: Choices | None, options: FileOptions | None
) -> OpenFile:
    name = upload_storage.display_name(path.name)
    return open_file(path, name, kind=kind, choices=choices, options=options)


def _open_upload(upload: Upload) -> OpenFile:
    path = upload_storage.upload_path(upload)
    if not path.exists():
        raise FileProblem("file_gone", "The file is no longer here. Upload it again.")
    return open_file(
        path,
        upload.file_name,
        kind=upload.kind,
        choices=resolve_options(upload.mapping),
        options=read_file_options(upload.detected),
    )


def _find_identical_version(report: ImportReport, dataset: Dataset | None) -> None:
    twin = writer.identical_version(dataset, report) if dataset else None
    report.identical_to = twin.number if twin else None


def _dry_writer(
    upload: Upload, reading: OpenFile, report: ImportReport
) -> CaseWriter | OutputWriter:
    """A writer that stores nothing."""
    if upload.kind == UploadKind.DATASET:
        report.slots = case_slots(reading.columns)
        return CaseWriter(report, near=NearDuplicates())
    report.slots = output_slots(reading.columns)
    report.unused_columns = reading.unused_columns
    return OutputWriter(report, _version_of(upload), reading.columns.labels.values())


def _version_of(upload: Upload) -> DatasetVersion:
    """The version whose cases the outputs answer: the chosen one, else the latest."""
    if upload.version is not None:
        return upload.version
    if upload.dataset is None or upload.dataset.latest is None:
        raise FileProblem("no_version", "The dataset has no cases yet. Upload them first.")
    return upload.dataset.latest


def _create_loading(
    team: Team, path: Path, kind: UploadKind, by: User | None, **fields: Any
) -> Upload:
    """The upload by which others see that this process imports a file of its own."""
    return Upload.objects.create(
        team=team,
        kind=kind,
        state=UploadState.LOADING,
        file_name=upload_storage.display_name(path.name),
        stored_name=uuid4().hex + upload_storage.EXTERNAL,
        size_bytes=path.stat().st_size,
        created_by=by,
        lease_owner=lease.own_name(),
        lease_expires_at=Now() + lease.DURATION,
        **fields,
    )


def _report_fields(report: ImportReport) -> dict[str, Any]:
    """The report as fields of an upload."""
    return {
        "row_count": report.row_count,
        "problem_count": report.problem_count,
        "problems": report.listed_problems(),
        "report": report.as_json(),
    }


def _unstorable(fault: DatabaseError | OSError) -> FileProblem:
    if disk_full.is_disk_full(fault):
        return FileProblem(disk_full.CODE, disk_full.TEXT)
    text = f"The rows could not be stored: {str(fault)[:200]}. Try again."
    return FileProblem("store_failed", text)


def _fail(upload: Upload, report: ImportReport) -> None:
    _end(upload, UploadState.FAILED, report)
    upload_storage.delete_file(upload)
    if upload.dataset:
        cleanup.remove_empty_dataset(upload.dataset)


def _end(upload: Upload, state: UploadState, report: ImportReport) -> None:
    _move(
        upload,
        (upload.state,),
        state,
        lease_owner="",
        lease_expires_at=None,
        **_report_fields(report),
    )


def _move(upload: Upload, old: Sequence[str], new: UploadState, **fields: Any) -> bool:
    """Bring the upload from one of the states `old` to `new`; False when it is in none.

    The condition is in the UPDATE, so of two processes that try only one succeeds.
    """
    changed = Upload.objects.filter(pk=upload.pk, state__in=old).update(state=new, **fields)
    upload.refresh_from_db()
    return bool(changed)
