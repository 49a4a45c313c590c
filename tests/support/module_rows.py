"""Rows that take seconds to make: made for the first test that asks, put back for all others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

Rows = dict[str, list[tuple[Any, ...]]]


def kept(make: Callable[[], object]) -> Callable[[], None]:
    """`make` at the first call; at every later one the rows it left, under the same ids.

    The tables it fills are empty whenever it is called.
    """
    left: Rows = {}

    def made() -> None:
        before = _rows()
        if left:
            assert not any(before[name] for name in left)
            for name, rows in left.items():
                _fill(name, rows)
            _count_on(left)
            return
        make()
        changed = {name: rows for name, rows in _rows().items() if rows != before[name]}
        assert not any(before[name] for name in changed)
        left.update(changed)

    return made


def _rows() -> Rows:
    rows: Rows = {}
    with connection.cursor() as cursor:
        for name, columns in _columns().items():
            cursor.execute(f'SELECT {columns} FROM "{name}" ORDER BY 1')
            rows[name] = cursor.fetchall()
    return rows


def _fill(name: str, rows: list[tuple[Any, ...]]) -> None:
    places = ", ".join(["%s"] * len(rows[0]))
    with connection.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO "{name}" ({_columns()[name]}) VALUES ({places})',
            [[_as_stored(value) for value in row] for row in rows],
        )


def _as_stored(value: Any) -> Any:
    """A column of PostgreSQL's `json` comes as the value it stands for."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _count_on(names: Iterable[str]) -> None:
    """Give the next rows the ids thereafter, for which PostgreSQL has counters of its own."""
    models = [model for model in apps.get_models() if model._meta.db_table in set(names)]
    with connection.cursor() as cursor:
        for sql in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(sql)


@cache
def _columns() -> dict[str, str]:
    """The columns of each table that can be written: generated ones cannot."""
    models = apps.get_models(include_auto_created=True)
    return {model._meta.db_table: _writable(model) for model in models if model._meta.managed}


def _writable(model: type[Model]) -> str:
    fields = [field for field in model._meta.local_concrete_fields if not field.generated]
    return ", ".join(f'"{field.column}"' for field in fields)
