"""The spool: uploaded files under generated names, until their rows are stored."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, Unpack
from uuid import uuid4

from django.conf import settings
from django.core.files.base import File

from scoring.core.files import (
    Detected,
    FileProblem,
    Mapping,
    Row,
    Source,
    detect,
    disk_full,
    guess_mapping,
)
from scoring.core.files.disk_full import full_disk_told
from scoring.engine.imports.reader import Options, resolve_options
from scoring.models import Dataset, Team, Upload, User

SHOWN_ROWS: Final = 20
#: The ending of a spool name without a file, of an import by a command.
ELSEWHERE: Final = ".elsewhere"
#: Problems of a file that no other encoding, delimiter or mapping solves.
HOPELESS: Final = (
    *("empty_file", "type_mismatch", "corrupt_archive", "unsafe_archive", "unsafe_xml"),
    *("unsupported_workbook", "too_large_unpacked", disk_full.CODE),
)
_FORGOTTEN_SECONDS: Final = 3_600  # since the last change; a file being received is younger
_UNKEEPABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Preview:
    """The beginning of a file; `mapping` is a guess."""

    detected: Detected
    mapping: Mapping
    rows: tuple[Row, ...]


def receive(
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
    or too_large, and for disk_full; the file is then removed.
    """
    spool_name = f"{uuid4().hex}.rows"
    path: Path = settings.SPOOL_DIR / spool_name
    try:
        with full_disk_told():
            size = _copy(file, path)
            _refuse_hopeless(path, shown_name(file.name))
            return Upload.objects.create(
                team=team,
                kind=kind,
                dataset=dataset,
                dataset_name=(dataset.name if dataset else dataset_name)[:120],
                file_name=shown_name(file.name),
                spool_name=spool_name,
                size_bytes=size,
                series=series[:120],
                dated=dated,
                created_by=by,
            )
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def preview(
    upload: Upload, choices: dict[str, list[str]] | None = None, **options: Unpack[Options]
) -> Preview:
    """Reads the file's beginning; the mapping is as chosen, else the upload's own, else a guess.

    Raises FileProblem when the beginning cannot be read; another encoding or delimiter may help.
    """
    with path_of(upload).open("rb") as stream:
        detected = detect(Source(stream, upload.file_name), **options)
    is_same = list(detected.columns) == upload.detected.get("columns")
    stored = resolve_options(upload.mapping) if is_same else None  # else of other columns
    chosen: dict[str, Sequence[str]] | None = {**choices} if choices else stored
    mapping = guess_mapping(detected.columns, detected.sample, chosen, is_open=detected.is_open)
    return Preview(detected, mapping, detected.sample[:SHOWN_ROWS])


def path_of(upload: Upload) -> Path:
    path: Path = settings.SPOOL_DIR / upload.spool_name
    return path


def discard(upload: Upload) -> None:
    """Remove the upload's file; its row is kept."""
    path_of(upload).unlink(missing_ok=True)


def remove_unneeded(open_uploads: Any) -> None:
    """Remove files that no open upload needs and that are not being written."""
    oldest = time.time() - _FORGOTTEN_SECONDS
    spool: Path = settings.SPOOL_DIR
    files = [path for path in spool.iterdir() if path.is_file()]
    needed = set(open_uploads.values_list("spool_name", flat=True))
    known = set(Upload.objects.values_list("spool_name", flat=True))
    for path in files:
        is_forgotten = path.name in known or path.stat().st_mtime < oldest
        if path.name not in needed and is_forgotten:
            path.unlink(missing_ok=True)


def shown_name(name: str | None) -> str:
    """A file name as it is shown: its last part, without characters that no database stores."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = _UNKEEPABLE.sub("\N{REPLACEMENT CHARACTER}", last)[-255:]
    return shown if shown.strip(". ") else "upload"


def limit_text() -> str:
    return f"{settings.EVALSITE_MAX_UPLOAD_BYTES // 1024**2:,} MiB"


def _copy(file: File[bytes], path: Path) -> int:
    size, limit = 0, settings.EVALSITE_MAX_UPLOAD_BYTES
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
        for chunk in file.chunks():
            size += len(chunk)
            if size > limit:
                text = f"The file is larger than {limit_text()}. Split it, or leave columns out."
                raise FileProblem("too_large", text)
            target.write(chunk)
    return size


def _refuse_hopeless(path: Path, name: str) -> None:
    try:
        with path.open("rb") as stream:
            detect(Source(stream, name))
    except FileProblem as fault:
        if fault.code in HOPELESS:
            raise
