"""Database triggers that keep the audit log append-only.

They are part of the schema, made by a migration and known to nothing else: whatever rebuilds one of
the tables on SQLite loses its triggers and has to make them again (`InstallAuditTriggers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

ENTRY: Final = "scoring_auditentry"
CHECKPOINT: Final = "scoring_auditcheckpoint"

#: An entry may go once a checkpoint stands for it.
_REPLACED: Final = (
    f"SELECT 1 FROM {CHECKPOINT} c WHERE "  # noqa: S608  no value of anybody's
    "c.team_id = OLD.team_id AND c.number >= OLD.number"
)


def _is_taken(table: str) -> str:
    same = "t.id = NEW.id OR (t.team_id = NEW.team_id AND t.number = NEW.number)"
    return f"EXISTS (SELECT 1 FROM {table} t WHERE {same})"  # noqa: S608


#: Names of the triggers, each with its time, table and condition. A row that replaces another
#: would delete it without a trigger on SQLite.
_SQLITE: Final[Mapping[str, tuple[str, str, str]]] = {
    "audit_entry_no_update": ("BEFORE UPDATE", ENTRY, "1"),
    "audit_entry_no_delete": ("BEFORE DELETE", ENTRY, f"NOT EXISTS ({_REPLACED})"),
    "audit_entry_no_replace": ("BEFORE INSERT", ENTRY, _is_taken(ENTRY)),
    "audit_checkpoint_no_update": ("BEFORE UPDATE", CHECKPOINT, "1"),
    "audit_checkpoint_no_delete": ("BEFORE DELETE", CHECKPOINT, "1"),
    "audit_checkpoint_no_replace": ("BEFORE INSERT", CHECKPOINT, _is_taken(CHECKPOINT)),
}

_POSTGRESQL: Final[Mapping[str, tuple[str, str, str]]] = {
    "audit_entry_no_update": ("BEFORE UPDATE", ENTRY, "ROW"),
    "audit_entry_no_delete": ("BEFORE DELETE", ENTRY, "ROW"),
    "audit_entry_no_truncate": ("BEFORE TRUNCATE", ENTRY, "STATEMENT"),
    "audit_checkpoint_no_update": ("BEFORE UPDATE", CHECKPOINT, "ROW"),
    "audit_checkpoint_no_delete": ("BEFORE DELETE", CHECKPOINT, "ROW"),
    "audit_checkpoint_no_truncate": ("BEFORE TRUNCATE", CHECKPOINT, "STATEMENT"),
}

_REFUSAL: Final = "the audit log is append-only"

_POSTGRESQL_FUNCTION: Final = f"""
CREATE OR REPLACE FUNCTION scoring_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = '{ENTRY}' THEN
        IF EXISTS ({_REPLACED}) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def trigger_names(vendor: str) -> set[str]:
    """The triggers a database of this vendor has to have."""
    return set(_SQLITE if vendor == "sqlite" else _POSTGRESQL)


def trigger_statements(vendor: str) -> list[str]:
    """SQL that makes the triggers; it may run any number of times."""
    create = _sqlite_statements() if vendor == "sqlite" else _postgresql_statements()
    return [*removal_statements(vendor), *create]


def removal_statements(vendor: str) -> list[str]:
    """SQL before a table is rebuilt; `trigger_statements` has to follow in the same migration."""
    if vendor == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {name}" for name in _SQLITE]
    triggers = _POSTGRESQL.items()
    return [f"DROP TRIGGER IF EXISTS {name} ON {table}" for name, (_, table, _) in triggers]


def missing_triggers(connection: BaseDatabaseWrapper) -> set[str]:
    """Triggers that the database lacks."""
    table, column = (
        ("sqlite_master", "name") if connection.vendor == "sqlite" else ("pg_trigger", "tgname")
    )
    wanted = sorted(trigger_names(connection.vendor))
    placeholders = ", ".join(["%s"] * len(wanted))
    kind = "type = 'trigger'" if connection.vendor == "sqlite" else "tgenabled <> 'D'"
    with connection.cursor() as cursor:
        sql = f"SELECT {column} FROM {table} WHERE {kind} AND {column} IN ({placeholders})"  # noqa: S608
        cursor.execute(sql, wanted)
        return set(wanted) - {name for (name,) in cursor.fetchall()}


def install_triggers(connection: BaseDatabaseWrapper) -> None:
    """Make the triggers, in place of those that are there."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for sql in trigger_statements(connection.vendor):
            cursor.execute(sql)


def _sqlite_statements() -> Sequence[str]:
    return [
        f"CREATE TRIGGER {name} {when} ON {table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        for name, (when, table, condition) in _SQLITE.items()
    ]


def _postgresql_statements() -> Sequence[str]:
    return [
        _POSTGRESQL_FUNCTION,
        *(
            f"CREATE TRIGGER {name} {when} ON {table} FOR EACH {level} "
            "EXECUTE FUNCTION scoring_keep_audit()"
            for name, (when, table, level) in _POSTGRESQL.items()
        ),
    ]
