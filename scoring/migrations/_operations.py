"""What migrations of this app do besides Django's own operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import CreateModel
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
