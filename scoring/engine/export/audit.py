"""The audit entries of a team as rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from scoring.core.files.writers import Fields
from scoring.engine.export.formats import ExportTable
from scoring.models import AuditEntry, Team
from scoring.models.team.audit_entry import AuditQuerySet

BATCH: Final = 2_000
COLUMNS: Final = (
    *("number", "at", "who", "who_id", "action", "object_type", "object_id", "object"),
    *("old", "new", "from", "hash"),
)


def audit_table(
    team: Team, entries: AuditQuerySet, is_hidden: Callable[[AuditEntry], bool]
) -> ExportTable:
    """These entries of the team, the oldest first; of the hidden ones without what was said."""
    return ExportTable(
        f"{team.name} audit",
        entries.count(),
        COLUMNS,
        lambda: _rows(entries, is_hidden),
        lambda row: [row[column] for column in COLUMNS],
    )


def _rows(entries: AuditQuerySet, is_hidden: Callable[[AuditEntry], bool]) -> Iterator[Fields]:
    rows, last = entries.order_by("number"), 0
    while batch := list(rows.filter(number__gt=last)[:BATCH]):
        for entry in batch:
            yield _fields(entry, is_hidden=is_hidden(entry))
        last = batch[-1].number


def _fields(entry: AuditEntry, *, is_hidden: bool) -> Fields:
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "who": entry.actor_name,
        "who_id": entry.actor_id,
        "action": entry.action,
        "object_type": entry.target_type,
        "object_id": entry.target_id,
        "object": None if is_hidden else entry.target_name,
        "old": None if is_hidden else entry.old,
        "new": None if is_hidden else entry.new,
        "from": entry.address,
        "hash": entry.hash,
    }
