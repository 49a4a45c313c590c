"""Lists and objects as Python writes them into the cells of a table, read as JSON.

`str` of a list, what pandas leaves in a CSV file (`['geo', 'easy']`, `{'ok': True, 'zip': None}`),
and NumPy's form, which has no commas (`['geo' 'easy']`). They are read as literals: nothing is
evaluated.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import Any, Final, NamedTuple

import orjson

from scoring.core.contract import Json
from scoring.core.files.columns.mapping import Mapping
from scoring.core.files.rows import Row, RowProblem

MAX_LITERAL: Final = 100_000  # characters
#: By field what its cells may be. Inputs and outputs are texts as they stand, as is a list that is
#: expected: code that prints one may be what is asked for.
KINDS: Final[dict[str, type]] = {
    "expected": dict,
    "references": list,
    "tags": list,
    "metadata": dict,
}
_OPENINGS: Final = ("[", "{", "(", "a", "I", "S")  # of a literal, or of `array([…])` and the like
CODE: Final = "unreadable_list"

_TEXT: Final = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_ITEM: Final = re.compile(f"{_TEXT}|{_NUMBER}")
_NUMPY: Final = re.compile(rf"(?s)\[\s*(?:{_TEXT}|{_NUMBER})(?:\s+(?:{_TEXT}|{_NUMBER}))+\s*\]")
_WRAPPED: Final = re.compile(r"(?s)(?:array|Index|Series)\((?P<list>\[.*\])(?:,[^\]]*)?\)")
#: What can only be meant as a list of texts.
_LIST_OF_TEXTS: Final = re.compile(r"(?s)[\[(]\s*['\"].*[\])]")


class ReadCells(NamedTuple):
    """How many cells of a column were read so, and how many items the longest list has; 0 for
    objects alone.
    """

    cells: int = 0
    items: int = 0


class PythonCells:
    """Turns such cells into JSON text, and counts them by column."""

    def __init__(self, columns: Mapping) -> None:
        chosen = columns.choices()
        self._kinds = {
            name: kind for field, kind in KINDS.items() for name in chosen.get(field, ())
        }
        self.read: defaultdict[str, ReadCells] = defaultdict(ReadCells)

    def take(self, row: Row) -> Row | RowProblem:
        """The row with JSON in the place of Python's literals; a problem for a list of texts that
        cannot be read, which would become one text with brackets and quotes.
        """
        changed: dict[str, Json] = {}
        for name, kind in self._kinds.items():
            cell = row.fields.get(name)
            if not isinstance(cell, str) or cell[:1] not in _OPENINGS or _is_json(cell):
                continue
            value = read_literal(cell)
            if isinstance(value, kind):
                changed[name] = orjson.dumps(value).decode()
                cells, items = self.read[name]
                longest = max(items, len(value)) if isinstance(value, list) else items
                self.read[name] = ReadCells(cells + 1, longest)
            elif kind is list and _LIST_OF_TEXTS.fullmatch(cell.strip()):
                return _unreadable(row.line, name)
        return Row(row.line, {**row.fields, **changed}) if changed else row

    @property
    def sentence(self) -> str:
        """What was read so; "" for nothing."""
        parts = [_describe(name, found) for name, found in self.read.items()]
        return f"Written as Python writes them, and read: {'; '.join(parts)}." if parts else ""


def read_literal(text: str) -> Json:
    """The list or object that Python wrote so, as JSON has it; None where it is none.

    Tuples are lists; what JSON has no word for, such as sets and bytes, is not read.
    """
    text = text.strip()
    if len(text) > MAX_LITERAL:
        return None
    if wrapped := _WRAPPED.fullmatch(text):
        text = wrapped["list"]
    elif text[:1] not in "[{(":
        return None
    try:
        if _NUMPY.fullmatch(text):
            return _plain([ast.literal_eval(item) for item in _ITEM.findall(text)])
        value = _plain(ast.literal_eval(text))
        return value if isinstance(value, list | dict) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _plain(value: Any) -> Json:
    """As JSON has it. Raises TypeError for what it has no word for."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(name, str) and _is_storable(name) for name in value):
            raise TypeError
        return {name: _plain(item) for name, item in value.items()}
    is_number = isinstance(value, int | float) and abs(value) < 2**63
    is_text = isinstance(value, str) and _is_storable(value)
    if value is None or is_number or is_text:
        return value
    raise TypeError


def _is_storable(text: str) -> bool:
    """Whether databases take it: no NUL, no half of a character."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _describe(name: str, found: ReadCells) -> str:
    cells = "1 cell" if found.cells == 1 else f"{found.cells:,} cells"
    if not found.items:
        return f"{cells} of {name}"
    items = "1 item" if found.items == 1 else f"{found.items:,} items"
    return f"{cells} of {name}, as up to {items}"


def _unreadable(line: int, column: str) -> RowProblem:
    text = (
        f"Line {line:,}, column {column}: this looks like a list, but cannot be read as one. "
        'Write it as JSON, such as ["a", "b"].'
    )
    return RowProblem(line, column, CODE, text)
