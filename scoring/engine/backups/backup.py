"""Making a backup of a site, which may be running."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from django.utils import timezone

from scoring.core.disk_full import is_disk_full
from scoring.core.private_files import open_private
from scoring.engine.backups.archive import (
    KEYS,
    BackupError,
    Manifest,
    describe,
    is_packed,
    write_archive,
)
from scoring.engine.backups.integrity import ADVICE, DATABASE, find_damage

PAGES_A_STEP: Final = 2_048  # 8 MB; in between, Ctrl-C is heard

OnProgress = Callable[[int, int], None]


def make_backup(
    folder: Path,
    target: Path,
    *,
    overwrites: bool = False,
    keys_elsewhere: list[str],
    on_progress: OnProgress = lambda *_: None,
) -> Manifest:
    """Write the site in `folder` into the file `target`, as it is at this moment.

    The file appears whole at the end; its folder needs room for the database once more.
    `on_progress` is called with pages copied and pages in all. Raises BackupError, OSError.
    """
    if not (folder / DATABASE).exists():
        raise BackupError(f"there is no site in {folder}")
    if target.exists() and not overwrites:
        raise BackupError(f"{target} is there already: name another file, or say --overwrite")
    with _staged(target) as (copy, staged):
        _copy_database(folder / DATABASE, copy, on_progress)
        if damage := _find_damage(copy):
            raise BackupError(f"the site's database is damaged ({damage}). {ADVICE}")
        names = [name for name in KEYS if name not in keys_elsewhere and (folder / name).exists()]
        sources = {name: folder / name for name in names} | {DATABASE: copy}
        manifest = Manifest(
            made_at=timezone.now().isoformat(),
            migrations=applied_migrations(copy),
            files={name: describe(path) for name, path in sources.items()},
            keys_elsewhere=sorted(keys_elsewhere),
        )
        write_archive(staged, manifest.write(), sources, packs=is_packed(target))
        _publish(staged, target, overwrites=overwrites)
    return manifest


def applied_migrations(database: Path) -> list[str]:
    """The migrations of the app `scoring` that a database has, in the order of its names."""
    with closing(sqlite3.connect(database, timeout=20)) as opened:
        try:
            rows = opened.execute("SELECT name FROM django_migrations WHERE app = 'scoring'")
            return sorted(name for (name,) in rows)
        except sqlite3.OperationalError:  # no such table
            return []


@contextmanager
def _staged(target: Path) -> Iterator[tuple[Path, Path]]:
    """Two private files in the target's folder, removed at the end in any case."""
    stem = f".{target.name}.{uuid4().hex}"
    paths = target.with_name(f"{stem}.sqlite3"), target.with_name(f"{stem}.part")
    try:
        for path in paths:
            open_private(path, "wb", exclusive=True).close()
        yield paths
    finally:
        for path in paths:
            for ending in ("", "-wal", "-shm", "-journal"):
                path.with_name(path.name + ending).unlink(missing_ok=True)


def _copy_database(source: Path, copy: Path, on_progress: OnProgress) -> None:
    """By SQLite's online backup, within one read transaction: writers are not blocked."""

    def report(_: int, remaining: int, total: int) -> None:
        on_progress(total - remaining, total)

    try:
        with (
            closing(sqlite3.connect(source, timeout=20, isolation_level=None)) as live,
            closing(sqlite3.connect(copy, isolation_level=None)) as target,
        ):
            target.execute("PRAGMA synchronous=OFF")  # the archive is synchronised instead
            live.execute("BEGIN")
            live.execute("SELECT count(*) FROM sqlite_master").fetchone()
            live.backup(target, pages=PAGES_A_STEP, progress=report)
            target.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as fault:
        if is_disk_full(fault):
            raise BackupError(f"there is no room left on the disk of {copy.parent}") from fault
        raise BackupError(f"the site's database cannot be read: {fault}. {ADVICE}") from fault


def _find_damage(copy: Path) -> str:
    try:
        return find_damage(copy)
    except sqlite3.OperationalError as fault:
        raise BackupError(f"the copy of the database cannot be checked: {fault}") from fault


def _publish(staged: Path, target: Path, *, overwrites: bool) -> None:
    """Rename the staged file, without overwriting one created meanwhile unless asked to."""
    if overwrites:
        staged.replace(target)
    else:
        try:
            os.link(staged, target)
        except FileExistsError:
            raise BackupError(f"{target} is there already: name another file") from None
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
