"""The texts of a case as JSON beside each other, path by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.json_changes import path_rows

MOST: Final = 200  # rows that a page shows


class Row(NamedTuple):
    """A path with what each of the texts has there, None for nothing."""

    path: str
    cells: Sequence[tuple[str, str | None]]


class PathTable(NamedTuple):
    """The paths at which two of the texts differ, with what the others have there.

    `same` paths are left out because both hold the same, `hidden` ones for want of room.
    """

    names: Sequence[str]
    rows: Sequence[Row]
    same: int
    hidden: int


def path_table(values: Mapping[str, Json], sides: tuple[str, str]) -> PathTable:
    """Of the named values, the two `sides` among them decide which rows are shown."""
    names = list(values)
    first, second = map(names.index, sides)
    rows = path_rows(list(values.values()))
    apart = [row for row in rows if row.leaves[first] != row.leaves[second]]
    absent = sum(row.leaves[first] is row.leaves[second] is None for row in rows)
    same = len(rows) - len(apart) - absent
    shown = [Row(row.path, list(zip(names, row.leaves, strict=True))) for row in apart[:MOST]]
    return PathTable(names, shown, same, len(apart) - len(shown))
