"""The value of a cell: a shared string, a number, a date or a boolean."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scoring.core.files.xlsx.number_formats import (
    DAY_FORMATS,
    ELAPSED_FORMAT,
    day_text,
    format_kind,
    number_text,
    plain_text,
)
from scoring.core.files.xlsx.shared_strings import SharedStrings
from scoring.core.files.xlsx.workbook import Workbook

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Cells(NamedTuple):
    """One row of a sheet: its texts from the first column on, and faults by column index."""

    line: int
    texts: list[str]
    faults: dict[int, tuple[str, str]]


class Values:
    """The texts and the styles that the cells of a workbook's sheets refer to."""

    def __init__(self, book: Workbook) -> None:
        self.shared = SharedStrings(book)
        self._time_kinds = _time_kinds(book)
        self._is_1904 = book.is_1904

    def text_of(self, value: str, kind: str, style: str) -> str:
        """`kind` and `style` are the cell's attributes t and s.

        Raises ValueError or IndexError where there is no such shared text.
        """
        if kind == "s":
            return self.shared[int(value)]
        if kind in ("str", "inlineStr"):
            return plain_text(value)
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind != "n":
            return value
        time_kind = self._time_kinds.get(style)
        return (
            day_text(value, time_kind, is_1904=self._is_1904) if time_kind else number_text(value)
        )


def cell_fault(text: str) -> tuple[str, str] | None:
    """Code and message for a text that cannot be stored, which only escapes can bring about."""
    if "\0" in text:
        return "nul_character", "the cell holds a NUL character. Remove it."
    if not text.isascii() and _SURROGATE.search(text):
        message = "the cell holds half a character (a lone surrogate). Remove or replace it."
        return "invalid_unicode", message
    return None


def _time_kinds(book: Workbook) -> dict[str, str]:
    """`day` or `elapsed` by the number of a cell's style; other styles are left out."""
    part = book.part_of("styles")
    own: dict[str, str] = {}
    kinds: dict[str, str] = {}
    inside: list[str] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        if name == "numFmt":
            own[attributes.get("numFmtId", "")] = format_kind(attributes.get("formatCode", ""))
        elif name in ("cellXfs", "cellStyleXfs"):
            inside[:] = [name]
        elif name == "xf" and inside == ["cellXfs"]:
            if kind := _kind_of(attributes.get("numFmtId", ""), own):
                kinds[str(count)] = kind
            count += 1

    if part:
        book.read_whole(part, start)
    return kinds


def _kind_of(number: str, own: dict[str, str]) -> str:
    if number in own:
        return own[number]
    if not number.isdecimal() or len(number) > 4 or int(number) not in DAY_FORMATS:
        return ""
    return "elapsed" if int(number) == ELAPSED_FORMAT else "day"
