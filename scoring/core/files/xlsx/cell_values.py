"""The value of a cell: a shared string, a number, a date or a boolean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from scoring.core.files.xlsx.format_parts import BUILT_IN
from scoring.core.files.xlsx.number_formats import (
    DAY_FORMATS,
    ELAPSED_FORMAT,
    day_text,
    format_kind,
    number_text,
    plain_text,
)
from scoring.core.files.xlsx.shared_strings import SharedStrings
from scoring.core.files.xlsx.shown_numbers import NumberFormatter, compile_format, show_number
from scoring.core.files.xlsx.workbook import Workbook

_DAYS_TO_1904: Final = 1_462
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Cells(NamedTuple):
    """One row of a sheet: its texts from the first column on, and faults by column index.

    `shown` has, by column index, what Excel shows of numbers where that is not their text.
    """

    line: int
    texts: list[str]
    faults: dict[int, tuple[str, str]]
    is_hidden: bool = False
    shown: Mapping[int, str] = MappingProxyType({})


class Values:
    """The texts and the styles that the cells of a workbook's sheets refer to."""

    def __init__(self, book: Workbook) -> None:
        self.shared = SharedStrings(book)
        self._time_kinds, self.formatters = _read_styles(book)
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

    def shown_of(self, value: str, text: str, style: str) -> str | None:
        """What is shown of a number in a style of `formatters`; None where that is its text."""
        if self._is_1904 and style in self._time_kinds:
            value = str(float(value) + _DAYS_TO_1904)
        shown = show_number(value, self.formatters[style])
        return None if shown == text else shown


def cell_fault(text: str) -> tuple[str, str] | None:
    """Code and message for a text that cannot be stored, which only escapes can bring about."""
    if "\0" in text:
        return "nul_character", "the cell holds a NUL character. Remove it."
    if not text.isascii() and _SURROGATE.search(text):
        message = "the cell holds half a character (a lone surrogate). Remove or replace it."
        return "invalid_unicode", message
    return None


def _read_styles(book: Workbook) -> tuple[dict[str, str], dict[str, NumberFormatter]]:
    """By the number of a cell's style `day` or `elapsed`, and what shows its numbers.

    Styles with neither are left out.
    """
    part = book.part_of("styles")
    own: dict[str, str] = {}
    kinds: dict[str, str] = {}
    formatters: dict[str, NumberFormatter] = {}
    inside: list[str] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        if name == "numFmt":
            own[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name in ("cellXfs", "cellStyleXfs"):
            inside[:] = [name]
        elif name == "xf" and inside == ["cellXfs"]:
            number = attributes.get("numFmtId", "")
            if kind := _kind_of(number, own):
                kinds[str(count)] = kind
            if formatter := _formatter_of(number, own):
                formatters[str(count)] = formatter
            count += 1

    if part:
        book.read_whole(part, start)
    return kinds, formatters


def _kind_of(number: str, own: dict[str, str]) -> str:
    if number in own:
        return format_kind(own[number])
    if not number.isdecimal() or len(number) > 4 or int(number) not in DAY_FORMATS:
        return ""
    return "elapsed" if int(number) == ELAPSED_FORMAT else "day"


def _formatter_of(number: str, own: dict[str, str]) -> NumberFormatter | None:
    """What shows a number in this format; None for a general or an unknown one."""
    is_small = number.isdecimal() and len(number) < 4
    code = own.get(number) or BUILT_IN.get(int(number) if is_small else 0, "")
    return compile_format(code) if code else None
