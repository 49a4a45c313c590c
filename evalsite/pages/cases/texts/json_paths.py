"""The texts of a case as JSON, compared path by path, with what each leaf scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from evalsite.pages.cases.texts.json_leaves import Credit, LeafScores
from evalsite.pages.cases.texts.row_limits import RowLimits
from evalsite.rendering.safe_html import LEAF
from scoring.core.scorers.json_leaves import Leaf
from scoring.core.textdiff.json_diff import LeafRow, format_leaf
from scoring.core.textdiff.text_layout import Tag

CONTEXT_CHARS: Final = 60  # characters in sight before the first that differs


class PathCell(NamedTuple):
    """What one of the texts has at a path, None for nothing, and whether it is gone or new.

    A page shows it from the character `since` on, where it is too long to be shown whole.
    """

    name: str
    text: str | None
    tag: Tag
    since: int = 0


class PathTableRow(NamedTuple):
    """A path with what each of the texts has there, and what it scored.

    `change` are the cells of the two texts that are compared, one where both hold the same.
    """

    path: str
    cells: Sequence[PathCell]
    change: Sequence[PathCell]
    credits: Sequence[Credit] = ()


class PathTable(NamedTuple):
    """The paths at which two of the texts differ, with what the others have there.

    `alike` are paths at which both hold the same, and `same` says how many those are; `differ`
    how many do not. Of either there may be more than rows are drawn.
    """

    names: Sequence[str]
    rows: Sequence[PathTableRow]
    alike: Sequence[PathTableRow]
    same: int
    differ: int
    scorers: Sequence[LeafScores] = ()


def build_path_table(
    names: Sequence[str],
    path_rows: Iterable[LeafRow],
    sides: tuple[str, str],
    scorers: Sequence[LeafScores] = (),
    limits: RowLimits = RowLimits(),  # noqa: B008  immutable
) -> PathTable:
    """Of the values of these names, the two `sides` among them decide which rows differ."""
    first, second = map(names.index, sides)
    differing, alike = [], []
    for row in path_rows:
        if row.leaves[first] != row.leaves[second]:
            differing.append(row)
        elif row.leaves[first] is not None:
            alike.append(row)
    rows = [_build_row(row, names, sides, scorers) for row in differing[: limits.differing]]
    alike_limit = limits.differing - len(rows) if limits.alike is None else limits.alike
    same = [_build_row(row, names, sides, scorers) for row in alike[:alike_limit]]
    return PathTable(names, rows, same, len(alike), len(differing), scorers)


def _build_row(
    row: LeafRow, names: Sequence[str], sides: tuple[str, str], scorers: Sequence[LeafScores]
) -> PathTableRow:
    texts = dict(zip(names, row.leaves, strict=True))
    is_alike = texts[sides[0]] == texts[sides[1]]
    tags: dict[str, Tag] = {} if is_alike else {sides[0]: "del", sides[1]: "ins"}
    since = _first_shown(*(texts[side] or "" for side in sides)) if tags else 0
    cells = {
        name: PathCell(name, text, "" if text is None else tags.get(name, ""), since)
        for name, text in texts.items()
    }
    change = [cells[side] for side in sides if cells[side].tag] or [cells[sides[0]]]
    row_credits = [scores.credit(row.path, texts.get("output")) for scores in scorers]
    return PathTableRow(row.path, list(cells.values()), change, row_credits)


def leaf_rows(leaves: Iterable[Leaf]) -> Iterator[PathTableRow]:
    """The leaves of one comparison with what each is compared with."""
    names = ("expected", "output")
    for leaf in leaves:
        texts = (format_leaf(leaf.expected), None if leaf.is_missing else format_leaf(leaf.actual))
        row = _build_row(LeafRow(leaf.path, texts), names, names, ())
        yield row._replace(credits=[Credit("", leaf.credit, leaf.is_missing)])


def _first_shown(first: str, second: str) -> int:
    """The character that two texts have to begin with for a cell to show what differs first."""
    differs = (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    offset = next(differs, min(len(first), len(second)))
    is_in_sight = offset < LEAF - CONTEXT_CHARS or max(len(first), len(second)) <= LEAF
    return 0 if is_in_sight else offset - CONTEXT_CHARS
