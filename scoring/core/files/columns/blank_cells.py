"""The empty cells of a table: no value, or an empty text.

A format for tables has one way to write both. What a model was asked and what it answered are
texts, of which an empty one is read as such. Any other empty cell is one that nobody has filled:
an empty text as the expected output would be inside every answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from scoring.core.files.columns.mapping import Mapping as Columns
from scoring.core.files.rows import Row

#: Fields whose empty cells are empty texts unless the mapping says otherwise.
TEXT_FIELDS: Final = ("input", "output")
LABEL_FIELDS: Final = ("expected", "references", "tags")


class BlankCells:
    """Takes the empty cells that are no value out of the rows, and counts all of them by column.

    Of expected outputs, references and tags, cells of white space alone are empty, too.
    """

    def __init__(self, columns: Columns) -> None:
        chosen = columns.choices()
        self._labels = {name for field in LABEL_FIELDS for name in chosen.get(field, ())}
        self._texts = text_columns(columns)
        self.no_value: Counter[str] = Counter()
        self.empty_text: Counter[str] = Counter()

    def drop(self, row: Row) -> Row:
        """The row without its cells that are no value."""
        blank = [name for name, cell in row.fields.items() if not cell or cell.isspace()]
        if not blank:
            return row
        missing: dict[str, None] = {}  # in the order of the columns
        for name in blank:
            is_empty = row.fields[name] == ""
            if name in self._texts:
                self.empty_text[name] += is_empty
            elif is_empty or name in self._labels:
                missing[name] = None
        self.no_value.update(list(missing))
        if not missing:
            return row
        filled = {name: cell for name, cell in row.fields.items() if name not in missing}
        return Row(row.line, filled)


def text_columns(columns: Columns) -> frozenset[str]:
    """The columns whose empty cells are empty texts."""
    chosen = columns.choices()
    usual = (name for field in TEXT_FIELDS for name in chosen.get(field, ()))
    return frozenset(usual).union(columns.blank_text).difference(columns.blank_missing)


def describe_blanks(blanks: BlankCells) -> str:
    """Such as "Empty cells: 12 of expected are no value; 1 of output is an empty text."."""
    parts = [
        f"{_list_counts(counts)} {several if counts.total() > 1 else one}"
        for counts, one, several in (
            (blanks.no_value, "is no value", "are no value"),
            (+blanks.empty_text, "is an empty text", "are empty texts"),
        )
        if counts
    ]
    return f"Empty cells: {'; '.join(parts)}." if parts else ""


def _list_counts(counts: Mapping[str, int]) -> str:
    named = [f"{count:,} of {name}" for name, count in counts.items()]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
