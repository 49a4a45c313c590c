"""The spool: uploaded files under generated names, until their rows are stored.

Where there is a shared storage the spool holds what this machine reads of it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final, Unpack
from uuid import uuid4

from django.conf import settings
from django.core.files.base import File

from scoring.core import disk_full
from scoring.core.files import (
    DetectedFormat,
    FileProblem,
    Mapping,
    Row,
    Source,
    detect_format,
    guess_mapping,
)
from scoring.core.files.disk_problem import reporting_disk_full
from scoring.engine.imports import shared_storage
from scoring.engine.imports.reader import FileOptions, resolve_options
from scoring.models import Dataset, Team, Upload, User

PREVIEW_ROWS: Final = 20
#: The ending of a spool name without a file, of an import by a command.
EXTERNAL: Final = ".elsewhere"
#: Problems of a file that no other encoding, delimiter or mapping solves.
FATAL_CODES: Final = (
    *("empty_file", "type_mismatch", "corrupt_archive", "unsafe_archive", "unsafe_xml"),
    *("unsupported_workbook", "too_large_unpacked", disk_full.CODE),
)
_FORGOTTEN_SECONDS: Final = 3_600  # since the last change; a file being received is younger
_UNKEEPABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Preview:
    """The beginning of a file; `mapping` is a guess."""

    detected: DetectedFormat
    mapping: Mapping
    rows: tuple[Row, ...]


def store_upload(
    team: Team,
    file: File[bytes],
    *,
    kind: str,
    by: User | None,
    dataset: Dataset | None = None,
    dataset_name: str = "",
    series: str = "",
    dated: datetime | None = None,
) -> Upload:
    """Store the file in the spool, for an existing dataset or a new one of this name.

    Raises FileProblem for a file that no choice makes readable, such as empty_file, type_mismatch
    or too_large, and for disk_full and storage_unreachable; the file is then removed.
    """
    stored_name = f"{uuid4().hex}.rows"
    path: Path = settings.SPOOL_DIR / stored_name
    try:
        with reporting_disk_full():
            size = _copy(file, path)
            _refuse_hopeless(path, display_name(file.name))
            if shared_storage.is_used():
                _delete_ended_copies()
                shared_storage.keep(path)
            return Upload.objects.create(
                team=team,
                kind=kind,
                dataset=dataset,
                dataset_name=(dataset.name if dataset else dataset_name)[:120],
                file_name=display_name(file.name),
                stored_name=stored_name,
                size_bytes=size,
                series=series[:120],
                dated=dated,
                created_by=by,
            )
    except BaseException:
        path.unlink(missing_ok=True)  # one in the shared storage is deleted later
        raise


def preview_upload(
    upload: Upload, choices: dict[str, list[str]] | None = None, **options: Unpack[FileOptions]
) -> Preview:
    """Reads the file's beginning; the mapping is as chosen, else the upload's own, else a guess.

    Raises FileProblem when the beginning cannot be read; another encoding or delimiter may help.
    """
    with fetch_file(upload).open("rb") as stream:
        detected = detect_format(Source(stream, upload.file_name), **options)
    is_same = list(detected.columns) == upload.detected.get("columns")
    stored = resolve_options(upload.mapping) if is_same else None  # else of other columns
    chosen: dict[str, Sequence[str]] | None = {**choices} if choices else stored
    mapping = guess_mapping(detected.columns, detected.sample, chosen, is_open=detected.is_open)
    return Preview(detected, mapping, detected.sample[:PREVIEW_ROWS])


def upload_path(upload: Upload) -> Path:
    """Where the upload's file is or would be on this machine."""
    path: Path = settings.SPOOL_DIR / upload.stored_name
    return path


def fetch_file(upload: Upload) -> Path:
    """The upload's file on this machine, copied from the shared storage where it has to be.

    There is none where it is gone. Raises StorageUnreachableError.
    """
    path = upload_path(upload)
    if shared_storage.is_used() and not path.exists():
        _delete_ended_copies()
        with suppress(FileNotFoundError):
            shared_storage.fetch(path)
    return path


def is_within_reach(upload: Upload) -> bool:
    """Whether this machine can read the upload's file, if anyone can."""
    return shared_storage.is_used() or upload_path(upload).exists()


def delete_file(upload: Upload) -> None:
    """Remove the upload's file; its row is kept. What cannot be reached is removed later."""
    upload_path(upload).unlink(missing_ok=True)
    if shared_storage.is_used():
        with suppress(shared_storage.StorageUnreachableError):
            shared_storage.delete(upload.stored_name)


def delete_unused_files() -> None:
    """Remove files that no open upload needs and that are not being written, shared ones too.

    Raises StorageUnreachableError.
    """
    spool: Path = settings.SPOOL_DIR
    files = [path for path in spool.iterdir() if path.is_file()]
    needed = set(Upload.objects.unfinished().values_list("stored_name", flat=True))
    known = set(Upload.objects.values_list("stored_name", flat=True))
    oldest = time.time() - _FORGOTTEN_SECONDS
    for path in files:
        is_forgotten = path.name in known or path.stat().st_mtime < oldest
        if path.name not in needed and is_forgotten:
            path.unlink(missing_ok=True)
    if shared_storage.is_used():
        _delete_unused_shared_files()


def _delete_unused_shared_files() -> None:
    names = set(shared_storage.names_older_than(_FORGOTTEN_SECONDS))
    needed = Upload.objects.unfinished().filter(stored_name__in=names)
    for name in names.difference(needed.values_list("stored_name", flat=True)):
        shared_storage.delete(name)


def _delete_ended_copies() -> None:
    """Remove copies of what another machine has imported; here there may be no worker to do it."""
    spool: Path = settings.SPOOL_DIR
    uploads = Upload.objects.filter(stored_name__in=[path.name for path in spool.iterdir()])
    for upload in uploads.exclude(pk__in=Upload.objects.unfinished()):
        upload_path(upload).unlink(missing_ok=True)


def display_name(name: str | None) -> str:
    """A file name as it is shown: its last part, without characters that no database stores."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = _UNKEEPABLE.sub("\N{REPLACEMENT CHARACTER}", last)[-255:]
    return shown if shown.strip(". ") else "upload"


def size_limit_text() -> str:
    return f"{settings.EVALSITE_MAX_UPLOAD_BYTES // 1024**2:,} MiB"


def _copy(file: File[bytes], path: Path) -> int:
    size, limit = 0, settings.EVALSITE_MAX_UPLOAD_BYTES
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
        for chunk in file.chunks():
            size += len(chunk)
            if size > limit:
                text = (
                    f"The file is larger than {size_limit_text()}. Split it, or leave columns out."
                )
                raise FileProblem("too_large", text)
            target.write(chunk)
    return size


def _refuse_hopeless(path: Path, name: str) -> None:
    try:
        with path.open("rb") as stream:
            detect_format(Source(stream, name))
    except FileProblem as fault:
        if fault.code in FATAL_CODES:
            raise
