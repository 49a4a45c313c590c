"""The XML of one sheet, element by element."""

from __future__ import annotations

from typing import Final

from scoring.core.files.rows import MAX_CELL, FileProblem
from scoring.core.files.xlsx.cell_values import Cells, Values, cell_fault
from scoring.core.files.xlsx.column_letters import column_index
from scoring.core.files.xlsx.fast_rows import HIDDEN, plain_rows
from scoring.core.files.xlsx.merged_cells import MAX_GROUPS
from scoring.core.files.xlsx.workbook import Workbook
from scoring.core.files.xlsx.xml_stream import (
    MAX_DEPTH,
    Handlers,
    Shortcut,
    local_name,
    refuse_deep,
)

_ROWS_DEPTH: Final = 2  # elements around a row


class Sheet:
    """Collects `rows` from the parser's callbacks. Written for speed: they come per element."""

    def __init__(self, book: Workbook) -> None:
        self.rows: list[Cells] = []
        shortcut = Shortcut(b"</row>", lambda: self._is_between_rows, self._take)
        self.handlers = Handlers(self._start, self._end, self._text, shortcut)
        self._values = Values(book)
        self._depth = self._line = self._column = self._size = 0
        self._kind = self._style = ""
        self._parts: list[str] = []  # of the cell's value
        self._takes = self._has_value = self._has_formula = self._is_phonetic = False
        self._is_between_rows = False
        self.merged: list[str] = []  # references of merged cells, which come behind the rows
        self._is_hidden = False
        self._texts: list[str] = []  # of the row
        self._shown: dict[int, str] = {}
        self._faults: dict[int, tuple[str, str]] = {}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._is_between_rows = False
        if self._depth > MAX_DEPTH:
            refuse_deep()
        if name == "v":
            self._takes = self._has_value = True
        elif name == "c":
            self._begin_cell(attributes)
        elif name == "row":
            self._begin_row(attributes)
        elif name == "t":
            self._takes = not self._is_phonetic
            self._has_value = self._has_value or self._takes
        elif name == "f":
            self._has_formula = True
        elif name == "rPh":
            self._is_phonetic = True
        elif name == "mergeCell":
            self._add_merged(attributes.get("ref", ""))
        elif ":" in name:
            self._depth -= 1
            self._start(local_name(name), attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name in ("v", "t"):
            self._takes = False
        elif name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
            is_inside = self._takes or self._is_phonetic
            self._is_between_rows = self._depth == _ROWS_DEPTH and not is_inside
        elif name == "rPh":
            self._is_phonetic = False
        elif ":" in name:
            self._depth += 1
            self._end(local_name(name))

    def _text(self, text: str) -> None:
        self._is_between_rows = False
        if not self._takes:
            return
        self._size += len(text)
        if self._size <= MAX_CELL:
            self._parts.append(text)

    def _add_merged(self, reference: str) -> None:
        if len(self.merged) < MAX_GROUPS:
            self.merged.append(reference)

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r", "")
        self._is_hidden = attributes.get("hidden") in HIDDEN
        line = int(number) if number.isdecimal() and len(number) < 9 else 0
        self._line = max(self._line + 1, line)
        self._texts, self._faults, self._column, self._shown = [], {}, -1, {}

    def _end_row(self) -> None:
        if self._faults or any(self._texts):
            row = Cells(self._line, self._texts, self._faults, self._is_hidden, self._shown)
            self.rows.append(row)
        self._texts, self._faults = [], {}  # a cell outside of rows belongs to none

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._parts, self._size = [], 0
        self._has_value = self._has_formula = False
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        reference = attributes.get("r")
        self._column = self._column_of(reference) if reference else self._column + 1

    def _end_cell(self) -> None:
        if self._size > MAX_CELL:
            text = f"the cell is longer than {MAX_CELL:,} characters. Shorten it."
            self._faults[self._column] = ("cell_too_long", text)
        elif self._has_value and (self._parts or not self._has_formula or self._kind == "str"):
            self._put("".join(self._parts))
        elif self._has_formula:  # programs that do not compute write no result, or an empty one
            text = "the formula has no stored result. Open the workbook, let it compute, save it."
            self._faults[self._column] = ("no_value", text)

    def _put(self, value: str) -> None:
        """Add the text that a cell's value stands for to the row."""
        try:
            text = self._values.text_of(value, self._kind, self._style)
        except (ValueError, IndexError):
            problem = (
                f"Line {self._line:,} of the sheet names a text the workbook lacks. Save it anew."
            )
            raise FileProblem("corrupt_archive", problem, line=self._line) from None
        if fault := cell_fault(text):
            self._faults[self._column] = fault
        if self._kind == "n" and value and self._style in self._values.formatters:
            shown = self._values.shown_of(value, text, self._style)
            if shown is not None:
                self._shown[self._column] = shown
        if self._column == len(self._texts):
            self._texts.append(text)
        else:  # after a gap, or out of order
            self._texts += [""] * (self._column + 1 - len(self._texts))
            self._texts[self._column] = text

    def _column_of(self, reference: str) -> int:
        """The column's index, from 0; the next one where the reference has no letters."""
        letters = reference.rstrip("0123456789")
        return column_index(letters) if letters else self._column + 1

    def _take(self, rows: str) -> bool:
        """Add plain rows at once, as the parser's callbacks would one by one."""
        result = plain_rows(rows, self._values, self._line)
        if result is not None:
            cells, self._line = result
            self.rows += cells
        return result is not None
