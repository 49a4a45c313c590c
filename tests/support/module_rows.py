"""Rows that take seconds to make: made for the first test that asks, put back for all others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connection

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
            return
        make()
        changed = {name: rows for name, rows in _rows().items() if rows != before[name]}
        assert not any(before[name] for name in changed)
        left.update(changed)

    return made


def _rows() -> Rows:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        return {
            name: cursor.execute(f'SELECT {_columns(name)} FROM "{name}"').fetchall()
            for name in names
        }


def _fill(name: str, rows: list[tuple[Any, ...]]) -> None:
    places = ", ".join(["%s"] * len(rows[0]))
    with connection.cursor() as cursor:
        cursor.executemany(f'INSERT INTO "{name}" ({_columns(name)}) VALUES ({places})', rows)


@cache
def _columns(name: str) -> str:
    """Those that can be written: this pragma leaves out generated ones."""
    with connection.cursor() as cursor:
        rows = cursor.execute(f'PRAGMA table_info("{name}")').fetchall()
    return ", ".join(f'"{column}"' for _, column, *_ in rows)
