"""How the archive of a team is laid out: a tar of a manifest, files of rows, the manifest's hash.

A file of rows has one JSON array a line, its values in the order of the manifest's columns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from scoring.engine.backups.archive import SealedManifest

FORMAT: Final = "evalsite-team"
FORMAT_VERSION: Final = 1
PEOPLE: Final = "people.jsonl"
AUDIT: Final = "audit.jsonl"


class TeamArchiveError(Exception):
    """A team that cannot be exported or imported; the text says why, and what to do."""


@dataclass(frozen=True)
class TeamManifest(SealedManifest):
    """What an archive holds: `files` are {name: {"size", "sha256"}}, `columns` and `counts`
    the columns of each table and how many rows it has.

    `migration` is the last of the app `scoring` where it was made. `audit_before` and `audit_end`
    are number and hash of the audit entry before the first and of the last one.
    """

    team: str
    slug: str
    made_at: str
    migration: str
    columns: dict[str, list[str]]
    counts: dict[str, int]
    files: dict[str, dict[str, Any]]
    audit_before: tuple[int, str] = (0, "")
    audit_end: tuple[int, str] = (0, "")
    format: str = FORMAT
    format_version: int = FORMAT_VERSION


def read_manifest(content: bytes) -> TeamManifest:
    """The manifest as it was written. Raises TeamArchiveError."""
    try:
        fields = json.loads(content)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise ValueError
        manifest = TeamManifest(**fields)
        if manifest.format_version != FORMAT_VERSION:
            raise TeamArchiveError(OTHER_VERSION)
    except (ValueError, TypeError):
        raise TeamArchiveError("it is not the archive of a team, or it was altered") from None
    return manifest


def file_of(table: str) -> str:
    """The name of the file with a table's rows."""
    return f"{table}.jsonl"


OTHER_VERSION: Final = (
    "it was made by another version of Evalsite: bring both sites to the same version"
)
