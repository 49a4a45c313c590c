"""The texts of a case as JSON beside each other, path by path, with what each leaf scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from evalsite.pages.case.leaves import Credit, Leaves
from evalsite.pages.case.rows import Room
from evalsite.safe_html import LEAF
from scoring.core.json_changes import PathRow, leaf_text
from scoring.core.leaves import Leaf
from scoring.core.shown import Tag

USUAL: Final = Room()
BEFORE: Final = 60  # characters in sight before the first that differs


class Cell(NamedTuple):
    """What one of the texts has at a path, None for nothing, and whether it is gone or new.

    A page shows it from the character `since` on, where it is too long to be shown whole.
    """

    name: str
    text: str | None
    tag: Tag
    since: int = 0


class Row(NamedTuple):
    """A path with what each of the texts has there, and what it scored.

    `change` are the cells of the two texts that are compared, one where both hold the same.
    """

    path: str
    cells: Sequence[Cell]
    change: Sequence[Cell]
    credits: Sequence[Credit] = ()


class PathTable(NamedTuple):
    """The paths at which two of the texts differ, with what the others have there.

    `alike` are paths at which both hold the same, and `same` says how many those are; `differ`
    how many do not. Of either there may be more than rows are drawn.
    """

    names: Sequence[str]
    rows: Sequence[Row]
    alike: Sequence[Row]
    same: int
    differ: int
    scorers: Sequence[Leaves] = ()


def path_table(
    names: Sequence[str],
    found: Iterable[PathRow],
    sides: tuple[str, str],
    scorers: Sequence[Leaves] = (),
    room: Room = USUAL,
) -> PathTable:
    """Of the values of these names, the two `sides` among them decide which rows differ."""
    first, second = map(names.index, sides)
    apart, alike = [], []
    for row in found:
        if row.leaves[first] != row.leaves[second]:
            apart.append(row)
        elif row.leaves[first] is not None:
            alike.append(row)
    rows = [_row(row, names, sides, scorers) for row in apart[: room.differing]]
    left = max(0, room.differing - len(rows)) if room.alike is None else room.alike
    same = [_row(row, names, sides, scorers) for row in alike[:left]]
    return PathTable(names, rows, same, len(alike), len(apart), scorers)


def _row(
    row: PathRow, names: Sequence[str], sides: tuple[str, str], scorers: Sequence[Leaves]
) -> Row:
    texts = dict(zip(names, row.leaves, strict=True))
    is_alike = texts[sides[0]] == texts[sides[1]]
    tags: dict[str, Tag] = {} if is_alike else {sides[0]: "del", sides[1]: "ins"}
    since = _since(*(texts[side] or "" for side in sides)) if tags else 0
    cells = {
        name: Cell(name, text, "" if text is None else tags.get(name, ""), since)
        for name, text in texts.items()
    }
    change = [cells[side] for side in sides if cells[side].tag] or [cells[sides[0]]]
    credits_of = [each.credit(row.path, texts.get("output")) for each in scorers]
    return Row(row.path, list(cells.values()), change, credits_of)


def leaf_rows(leaves: Iterable[Leaf]) -> list[Row]:
    """The leaves of one comparison, wherever they lie, beside what each was compared with."""
    return [_leaf_row(leaf) for leaf in leaves]


def _leaf_row(leaf: Leaf) -> Row:
    texts = (leaf_text(leaf.expected), None if leaf.is_missing else leaf_text(leaf.actual))
    path = PathRow(leaf.path, texts)
    row = _row(path, ("expected", "output"), ("expected", "output"), ())
    return row._replace(credits=[Credit("", leaf.credit, leaf.is_missing)])


def _since(first: str, second: str) -> int:
    """Where two texts have to begin for a cell to show what differs first."""
    both = zip(first, second, strict=False)
    at = next((n for n, (a, b) in enumerate(both) if a != b), min(len(first), len(second)))
    is_in_sight = at < LEAF - BEFORE or max(len(first), len(second)) <= LEAF
    return 0 if is_in_sight else at - BEFORE
