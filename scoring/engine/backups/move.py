"""Moving a site from SQLite to PostgreSQL: every row, checked, and gone on with where it was cut.

A table of the move's own in the target, the journal, says how far it is; while it is there nobody
else uses the target. Foreign keys are taken off first and put back at the end, which checks them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.models.fields.json import JSONField

from scoring.core.json_text import replace_unstorable
from scoring.models.bulk import copy_rows, gather_statistics
from scoring.models.written_json import WrittenJSONField

SOURCE: Final = "source"  # the alias of the SQLite database; the target is the default one
ROWS_A_STEP: Final = 20_000
#: `migrate` fills these itself; the source's rows take their place.
MADE_BY_MIGRATE: Final = (Permission, ContentType)

_MAKE_JOURNAL: Final = "CREATE TABLE evalsite_move (step text PRIMARY KEY, value text NOT NULL)"
_NOTE: Final = """
    INSERT INTO evalsite_move VALUES (%s, %s)
    ON CONFLICT (step) DO UPDATE SET value = excluded.value
"""
_NOTED: Final = "SELECT value FROM evalsite_move WHERE step = %s"
_CONSTRAINTS: Final = """
    SELECT value FROM evalsite_move WHERE starts_with(step, 'constraint ') ORDER BY step
"""
_FOREIGN_KEYS: Final = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema::regnamespace
"""

OnProgress = Callable[[str, int], None]
Row = tuple[Any, ...]


class MoveError(Exception):
    """Why the site cannot be moved; the text says what to do."""


class Moved(NamedTuple):
    """How many tables and rows, and how many values held NUL, which PostgreSQL does not store."""

    tables: int
    rows: int
    without_nul: int


def is_unfinished() -> bool:
    """Whether a move into the default database has begun and not ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('evalsite_move') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def move_rows(on_progress: OnProgress = lambda *_: None) -> Moved:
    """Copy every row of SOURCE into the default database, which `migrate` has set up.

    Called again after it was cut short, it goes on. `on_progress` is called with a table's name and
    the rows copied since. Raises MoveError where the target is used, and where source and target
    differ at the end.
    """
    tables = [_Table(model) for model in _models()]
    with transaction.atomic(using=SOURCE):  # nobody writes there meanwhile
        if not is_unfinished():
            _begin(tables)
        for table in tables:
            table.copy(on_progress)
        counts = [table.check() for table in tables]
        _end(tables)
    return Moved(len(tables), sum(counts), sum(table.without_nul for table in tables))


def _models() -> list[type[models.Model]]:
    """Those whose tables migrations make, in the order of their names."""
    found = apps.get_models(include_auto_created=True)
    managed = {model for model in found if model._meta.managed and not model._meta.proxy}
    return sorted(managed, key=lambda model: model._meta.db_table)


@transaction.atomic
def _begin(tables: Sequence[_Table]) -> None:
    used = [
        table.name
        for table in tables
        if table.model not in MADE_BY_MIGRATE and table.rows("default").exists()
    ]
    if used:
        raise MoveError(f"{used[0]} has rows there: name an empty database")
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_JOURNAL)
        cursor.execute(_FOREIGN_KEYS)
        for table, name, definition in cursor.fetchall():
            constraint = f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
            _note(f"constraint {table} {name}", constraint)
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    for model in MADE_BY_MIGRATE:
        model._base_manager.all()._raw_delete("default")


def _end(tables: Sequence[_Table]) -> None:
    """Put the foreign keys back, let ids go on, and forget the journal: all or nothing."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CONSTRAINTS)
        statements = [value for (value,) in cursor.fetchall()]
        statements += connection.ops.sequence_reset_sql(
            no_style(), [table.model for table in tables]
        )
        for statement in (*statements, "DROP TABLE evalsite_move"):
            cursor.execute(statement)
    gather_statistics(*(table.model for table in tables))


def _note(step: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [step, value])


def _noted(step: str) -> str | None:
    with connection.cursor() as cursor:
        cursor.execute(_NOTED, [step])
        row = cursor.fetchone()
        return row[0] if row else None


class _Table:
    """One table on both sides. Generated columns are left to the target."""

    def __init__(self, model: type[models.Model]) -> None:
        self.model, self.name = model, model._meta.db_table
        self._fields = [f for f in model._meta.local_concrete_fields if not f.generated]
        self.without_nul = 0

    def rows(self, alias: str) -> models.QuerySet[Any, Row]:
        names = [field.attname for field in self._fields]
        return self.model._base_manager.using(alias).order_by("pk").values_list("pk", *names)

    def copy(self, on_progress: OnProgress) -> None:
        """Copy what is not copied yet, each step with its note in one transaction."""
        step, columns = f"copied {self.name}", [str(field.column) for field in self._fields]
        rows, last = self.rows(SOURCE), _noted(step)
        while True:
            left = rows if last is None else rows.filter(pk__gt=json.loads(last))
            chunk = list(left[:ROWS_A_STEP])
            if not chunk:
                return
            last = json.dumps(chunk[-1][0], default=str)
            with transaction.atomic():
                copy_rows(self.model, columns, [self._to_target(row[1:]) for row in chunk])
                _note(step, last)
            on_progress(self.name, len(chunk))

    def _to_target(self, row: Row) -> Row:
        return tuple(
            field.get_db_prep_save(self._storable(field, value), connection)
            for field, value in zip(self._fields, row, strict=True)
        )

    def check(self) -> int:
        """How many rows there are. Raises MoveError unless both sides have the same."""
        here, there = self._summarize("default"), self._summarize(SOURCE)
        if here != there:
            raise MoveError(
                f"{self.name} is not the same on both sides (rows: {there[0]:,} there, {here[0]:,} "
                "here). The site was changed between two moves: begin again with an empty database"
            )
        return there[0]

    def _summarize(self, alias: str) -> tuple[int, int]:
        """How many rows, and the sum of their hashes: sides may order texts differently."""
        count = total = self.without_nul = 0
        for row in self.rows(alias).iterator(ROWS_A_STEP):
            values = zip(self._fields, row[1:], strict=True)
            told = repr(
                [_canonical(field, self._storable(field, value)) for field, value in values]
            )
            total += int.from_bytes(hashlib.sha256(told.encode()).digest())
            count += 1
        return count, total

    def _storable(self, field: models.Field[Any, Any], value: Any) -> Any:
        """The value without NUL, which only a column of type `json` stores."""
        if isinstance(field, WrittenJSONField):
            return value
        if isinstance(value, str) and "\0" in value:
            self.without_nul += 1
            return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        if isinstance(field, JSONField) and rb"\u0000" in json.dumps(value).encode():
            self.without_nul += 1
            return replace_unstorable(value)
        return value


def _canonical(field: models.Field[Any, Any], value: Any) -> Any:
    """The value as both databases give it: `jsonb` sorts keys and writes 1e22 as an integer."""
    if isinstance(field, JSONField):
        is_written = isinstance(field, WrittenJSONField)
        return json.dumps(value if is_written else _plain(value), sort_keys=not is_written)
    return bytes(value) if isinstance(value, memoryview) else value


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
