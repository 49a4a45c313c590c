"""Restoring a backup into a data folder that no site has used."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from scoring.core.private_files import FOLDER_MODE, make_private, open_private
from scoring.engine.backups.archive import (
    ALTERED,
    CHUNK_BYTES,
    END,
    KEYS,
    MANIFEST,
    MANIFEST_BYTES,
    BackupError,
    Manifest,
    open_members,
    read_manifest,
)
from scoring.engine.backups.backup import applied_migrations
from scoring.engine.backups.integrity import (
    DATABASE,
    UNSOUND,
    SiteRunsError,
    find_damage,
    lock_exclusively,
    mark_clean,
)
from scoring.engine.upgrades import find_upgrade_problem
from scoring.models import Job, Run, Shard, Upload, Worker


def restore_backup(source: Path, folder: Path, *, spool: Path) -> Manifest:
    """Put the site in the backup `source` into `folder`. Raises BackupError, OSError.

    Nothing is changed there unless the whole backup is sound.
    """
    make_private(folder)
    try:
        with lock_exclusively(folder):
            _check_unused(folder, spool)
            with _staging(folder) as stage:
                manifest = _unpack(source, stage)
                _check_upgradable(applied_migrations(stage / DATABASE))
                _check_sound(stage / DATABASE)
                _release_leases(stage / DATABASE)
                _move_in(stage, folder, manifest)
    except SiteRunsError:
        raise BackupError(f"a site or worker runs on {folder}: stop it first") from None
    return manifest


def _check_unused(folder: Path, spool: Path) -> None:
    """A folder with only keys, which any command makes, is unused."""
    for path in (folder / DATABASE, folder / f"{DATABASE}-wal", *spool.glob("*")):
        if path.exists():
            text = f"{folder} is used already (it holds {path.name}): restore into a new folder"
            raise BackupError(text)


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    stage = folder / f".restore-{uuid4().hex}"
    stage.mkdir(mode=FOLDER_MODE)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _unpack(source: Path, stage: Path) -> Manifest:
    """Unpack every file that the manifest names, checked against it."""
    with open_members(source) as members:
        first = next(members, None)
        if first is None or first.name != MANIFEST or first.size > MANIFEST_BYTES:
            raise BackupError("it is not a backup of Evalsite")
        manifest = read_manifest(first.content.read())
        _check_upgradable(manifest.migrations)
        missing, is_whole = dict(manifest.files), False
        for member in members:
            if member.name == END and not missing:
                is_whole = member.content.read(len(manifest.seal()) + 1) == manifest.seal()
                continue
            described = missing.pop(member.name, None)
            if described is None or described["size"] != member.size:
                raise BackupError(ALTERED)
            digest = _write_member(stage / member.name, member.content)
            if digest != described["sha256"]:
                raise BackupError(ALTERED)
    if missing or not is_whole:
        raise BackupError(ALTERED)
    return manifest


def _check_sound(database: Path) -> None:
    try:
        damage = find_damage(database)
    except sqlite3.OperationalError as fault:
        raise BackupError(f"its database cannot be checked: {fault}") from fault
    if damage:
        raise BackupError(f"its database is damaged ({damage})")


def _release_leases(database: Path) -> None:
    """Whoever worked when the backup was made does not work here."""
    with closing(sqlite3.connect(database)) as opened, opened:
        for model in (Run, Job, Upload, Shard):
            opened.execute(
                f"UPDATE {model._meta.db_table} SET lease_owner = '', lease_expires_at = NULL"  # noqa: S608  names from the code
            )
        opened.execute(f"DELETE FROM {Worker._meta.db_table}")  # noqa: S608


def _check_upgradable(migrations: list[str]) -> None:
    if problem := find_upgrade_problem(migrations):
        raise BackupError(problem)


def _write_member(path: Path, content: IO[bytes]) -> str:
    """The SHA-256 of the content."""
    digest = hashlib.sha256()
    with open_private(path, "wb", exclusive=True) as file:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _move_in(stage: Path, folder: Path, manifest: Manifest) -> None:
    """The keys first: only with its database is the folder a site's."""
    for name in KEYS:
        if name in manifest.files:
            (stage / name).replace(folder / name)
    (folder / UNSOUND).unlink(missing_ok=True)
    (stage / DATABASE).replace(folder / DATABASE)
    mark_clean(folder)
