"""The storage from which every machine reads uploaded files: a shared folder, or one like S3.

It is Django's storage `uploads`, where EVALSITE_UPLOADS names one. A file is called as it is in the
spool, where each machine keeps a copy of it while it reads.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils import timezone

from scoring.core.disk_full import is_disk_full
from scoring.core.files import FileProblem

log = logging.getLogger(__name__)

ALIAS: Final = "uploads"
CODE: Final = "storage_unreachable"
TEXT: Final = "The storage of uploaded files cannot be reached. Try again in a few seconds."
RETRY_SECONDS: Final = 5
_OURS: Final = re.compile(r"[0-9a-f]{32}\.rows")


class StorageUnreachableError(FileProblem):
    """The file may well be there, later."""

    def __init__(self, text: str = TEXT) -> None:
        super().__init__(CODE, text)


def is_used() -> bool:
    return ALIAS in settings.STORAGES


def keep(path: Path) -> None:
    """Store the file under its name. Raises StorageUnreachableError; OSError for a full disk."""
    with _reaching() as storage, path.open("rb") as file:
        storage.save(path.name, File(file))


def fetch(path: Path) -> None:
    """Copy the file of this name to the path, all or nothing.

    Raises StorageUnreachableError; FileNotFoundError for one that is not there; OSError where there
    is no room.
    """
    part = path.with_name(f"{uuid4().hex}.part")
    try:
        with (
            _reaching() as storage,
            storage.open(path.name, "rb") as source,
            open(part, "xb", opener=_open_private) as target,
        ):
            shutil.copyfileobj(source, target)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def delete(name: str) -> None:
    """Remove the file, if it is there. Raises StorageUnreachableError."""
    with _reaching() as storage:
        storage.delete(name)


def names_older_than(seconds: float) -> list[str]:
    """Of the files that uploads have left there. Raises StorageUnreachableError."""
    with _reaching() as storage:
        names = [name for name in storage.listdir("")[1] if _OURS.fullmatch(name)]
    oldest = timezone.now() - timedelta(seconds=seconds)
    return [name for name in names if _is_older(name, oldest)]


def _is_older(name: str, moment: datetime) -> bool:
    """Not if it is gone meanwhile, since its rows are stored."""
    with suppress(FileNotFoundError, StorageUnreachableError), _reaching() as storage:
        return storage.get_modified_time(name) < moment
    return False


@contextmanager
def _reaching() -> Iterator[Storage]:
    storage = storages[ALIAS]
    if isinstance(storage, FileSystemStorage) and not Path(storage.location).is_dir():
        # Django would make it, below the place where it is to be mounted.
        log.warning("the folder of uploaded files is not there: %s", storage.location)
        raise StorageUnreachableError
    try:
        yield storage
    except FileNotFoundError:
        raise
    except _faults() as fault:
        if is_disk_full(fault):
            raise
        log.warning("the storage of uploaded files cannot be used: %s", fault)
        raise StorageUnreachableError from fault


def _faults() -> tuple[type[Exception], ...]:
    """What a storage raises where it cannot be reached, or refuses."""
    try:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:  # the packages of S3 are an extra
        return (OSError,)
    return (OSError, Boto3Error, BotoCoreError, ClientError)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
