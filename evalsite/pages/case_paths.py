"""The texts of a case as JSON beside each other, path by path, with what each leaf scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evalsite.pages.case_leaves import Credit, Leaves
from scoring.core.contract import Json
from scoring.core.json_changes import PathRow, path_rows

MOST: Final = 200  # rows that a page shows


class Row(NamedTuple):
    """A path with what each of the texts has there, None for nothing, and what it scored."""

    path: str
    cells: Sequence[tuple[str, str | None]]
    credits: Sequence[Credit] = ()
    is_alike: bool = False  # in the two texts that are compared


class PathTable(NamedTuple):
    """The paths at which two of the texts differ, with what the others have there.

    `alike` are paths at which both hold the same, and `same` says how many those are. `hidden`
    ones that differ are left out for want of room.
    """

    names: Sequence[str]
    rows: Sequence[Row]
    alike: Sequence[Row]
    same: int
    hidden: int
    scorers: Sequence[Leaves] = ()


def path_table(
    values: Mapping[str, Json], sides: tuple[str, str], scorers: Sequence[Leaves] = ()
) -> PathTable:
    """Of the named values, the two `sides` among them decide which rows differ."""
    names = list(values)
    first, second = map(names.index, sides)
    there = [
        row
        for row in path_rows(list(values.values()))
        if (row.leaves[first], row.leaves[second]) != (None, None)
    ]
    apart = [row for row in there if row.leaves[first] != row.leaves[second]]
    alike = [row for row in there if row.leaves[first] == row.leaves[second]]
    shown = apart[:MOST]
    room = MOST - len(shown)
    return PathTable(
        names,
        [_row(row, names, scorers) for row in shown],
        [_row(row, names, scorers)._replace(is_alike=True) for row in alike[:room]],
        len(alike),
        len(apart) - len(shown),
        scorers,
    )


def _row(row: PathRow, names: Sequence[str], scorers: Sequence[Leaves]) -> Row:
    cells = list(zip(names, row.leaves, strict=True))
    said = dict(cells).get("output")
    return Row(row.path, cells, [each.credit(row.path, said) for each in scorers])
