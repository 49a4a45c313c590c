"""Which databases this version can upgrade: neither those of newer versions nor very old ones."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

INITIAL: Final = "0001_schema"  # a name that no earlier version used
FOLDER: Final = Path(__file__).resolve().parents[1] / "migrations"


def known_migrations() -> set[str]:
    """By their files' names: loading them takes longer than scoring a small run."""
    return {path.stem for path in FOLDER.glob("[0-9]*.py")}


def find_upgrade_problem(applied: Collection[str]) -> str:
    """Why a database with these migrations of `scoring` cannot be upgraded; "" where it can."""
    if not applied:
        return "its database is not one of Evalsite"
    if INITIAL not in applied:
        return (
            "its database is too old to be upgraded: export its datasets and outputs with the "
            "version that made it, and import them into a new data folder"
        )
    if newer := sorted(set(applied) - known_migrations()):
        return f"its database is of a newer Evalsite ({newer[-1]}): use that version"
    return ""
