"""JSON that is shown as somebody wrote it."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class WrittenJSONField(models.JSONField):
    """A JSON value with its keys in their order and its numbers as they are spelled.

    PostgreSQL's `jsonb` sorts keys by their length and makes an integer of 1e22; its `json` is the
    text. Such a column is read and written as a whole: queries ask for nothing in it.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        adapted = super().get_db_prep_value(value, connection, prepared)
        if connection.vendor != "postgresql" or adapted is None:
            return adapted
        from psycopg.types.json import Json

        return Json(adapted.obj, adapted.dumps)

    def select_format(self, compiler: SQLCompiler, sql: str, params: Any) -> tuple[str, Any]:
        """As text, which psycopg leaves to Django to read."""
        is_text = compiler.connection.vendor == "postgresql"
        return (f"{sql}::text" if is_text else sql), params
