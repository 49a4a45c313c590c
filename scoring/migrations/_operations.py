"""What migrations of this app do besides Django's own operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AlterField, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from scoring.models.team.audit_triggers import removal_statements, trigger_statements


class CreateModels(Operation):
    """Creates many models at once; they may refer to each other in any direction.

    A `CreateModel` after another renders every related model anew each time, which takes seconds
    of processor time for fifty models. Here they are rendered once.
    """

    reduces_to_sql = True

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.models], {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)  # rendered again by whoever asks for it
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.models)} models"


class InstallAuditTriggers(Operation):
    """Makes the triggers of the audit log; runs any number of times.

    Wanted once more after any operation that rebuilds one of its tables, which SQLite does for most
    changes, and in a squashed migration after its tables are made.
    """

    reduces_to_sql = True
    reversible = True

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The models do not know of triggers."""

    def database_forwards(
        self,
        app_label: str,  # noqa: ARG002
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,  # noqa: ARG002
        to_state: ProjectState,  # noqa: ARG002
    ) -> None:
        schema_editor.deferred_sql.extend(trigger_statements(schema_editor.connection.vendor))

    def database_backwards(
        self,
        app_label: str,  # noqa: ARG002
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,  # noqa: ARG002
        to_state: ProjectState,  # noqa: ARG002
    ) -> None:
        for sql in removal_statements(schema_editor.connection.vendor):
            schema_editor.execute(sql)

    def describe(self) -> str:
        return "Make the triggers of the audit log"


class AlterOnPostgreSQL(AlterField):
    """Alters a field of a model, and its column on PostgreSQL alone: SQLite would rebuild the table
    for what it does not need.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, *states: ProjectState) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, *states)

    def database_backwards(self, app_label: str, schema_editor: Any, *states: ProjectState) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, *states)


class SortTextByCodePoint(Operation):
    """Lets PostgreSQL compare this app's texts as SQLite does, whatever the locale of the database.

    Wanted once more after any operation that adds or alters a column of text.
    """

    reduces_to_sql = False
    reversible = True

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The models do not know of collations."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,  # noqa: ARG002
        to_state: ProjectState,  # noqa: ARG002
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            for sql in collation_statements(app_label, schema_editor.connection):
                schema_editor.execute(sql)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """The older code works as well with it."""

    def describe(self) -> str:
        return "Compare texts by their code points"


def collation_statements(app_label: str, connection: BaseDatabaseWrapper) -> list[str]:
    """What is left to alter: one statement for each table."""
    columns: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_LOCALISED_TEXTS, [f"{app_label}_"])
        for table, column, kind in cursor.fetchall():
            name = connection.ops.quote_name(column)
            columns.setdefault(table, []).append(f'ALTER {name} TYPE {kind} COLLATE "C"')
    return [
        f"ALTER TABLE {connection.ops.quote_name(table)} {', '.join(changes)}"
        for table, changes in columns.items()
    ]


_LOCALISED_TEXTS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_collation o ON o.oid = a.attcollation
    WHERE c.relkind = 'r' AND starts_with(c.relname, %s) AND pg_table_is_visible(c.oid)
    AND NOT a.attisdropped AND o.collname <> 'C'
    ORDER BY c.relname, a.attnum
"""
