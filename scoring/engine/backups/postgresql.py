"""Backups of a site on PostgreSQL, whose own tools make them: what to do."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from shlex import quote

from scoring.engine.backups.archive import KEYS


def backup_advice(folder: Path, target: Path, keys_elsewhere: Collection[str]) -> str:
    """How to write the database into the file, and which keys belong to it."""
    return (
        "the database is PostgreSQL's, whose own tools copy it while the site runs:\n"
        f'  pg_dump --format=custom --file={quote(str(target))} "$DATABASE_URL"\n'
        f"Without its keys it cannot be used. Keep beside it {_name_keys(folder, keys_elsewhere)}."
    )


def restore_advice(folder: Path, source: Path, keys_elsewhere: Collection[str]) -> str:
    """How to make a site of the file again."""
    return (
        "the database is PostgreSQL's, whose own tools restore it into an empty one:\n"
        f'  pg_restore --no-owner --exit-on-error --dbname="$DATABASE_URL" {quote(str(source))}\n'
        f"Put back {_name_keys(folder, keys_elsewhere)} as they were, then `manage.py start`."
    )


def _name_keys(folder: Path, keys_elsewhere: Collection[str]) -> str:
    """Each by its variable where it comes from the environment, else by its file."""
    places = (
        f"EVALSITE_{name.upper()}" if name in keys_elsewhere else str(folder / name)
        for name in KEYS
    )
    return " and ".join(places)
