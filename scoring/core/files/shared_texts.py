"""The texts that a workbook's cells share: read as far as they are asked for, not held for ever."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Final
from weakref import finalize

from scoring.core.files.cell_texts import plain_text
from scoring.core.files.rows import MAX_CELL, FileProblem
from scoring.core.files.workbook import MAX_DEPTH, Handlers, Workbook, bare, refuse_deep

_HELD: Final = 16 * 1024 * 1024  # characters kept in memory; later texts lie in a nameless file


class SharedTexts:
    """Texts by their place. A sheet asks for them mostly in order, so few are read ahead."""

    def __init__(self, book: Workbook) -> None:
        self.held: list[str] = []  # the first texts, as far as they were read
        self._held = 0
        self._ends = array("Q", [0])  # of the texts in the file
        self._file: IO[bytes] | None = None
        self._flushed = 0
        self._parts: list[str] | None = None  # of the <t> being read
        self._item: list[str] = []
        self._size = 0
        self._is_phonetic = False
        self._depth = 0
        part = book.part_of("sharedStrings")
        handlers = Handlers(self._start, self._end, self._text)
        self._steps: Iterator[int] = book.read(part, handlers) if part else iter(())

    def __getitem__(self, place: int) -> str:
        """Raises IndexError when there is no such text."""
        while place >= len(self.held) + len(self._ends) - 1:
            if next(self._steps, self) is self:
                raise IndexError(place)
        if 0 <= place < len(self.held):
            return self.held[place]
        index = place - len(self.held)
        return self._text_between(self._ends[index], self._ends[index + 1])

    def _text_between(self, start: int, end: int) -> str:
        if self._file is None:
            raise IndexError
        if end > self._flushed:
            self._file.flush()
            self._flushed = self._ends[-1]
        return os.pread(self._file.fileno(), end - start, start).decode("utf-8", "surrogatepass")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_deep()
        if name == "si":
            self._item, self._size = [], 0
        elif name == "t":
            self._parts = None if self._is_phonetic else self._item
        elif name == "rPh":
            self._is_phonetic = True
        elif ":" in name:
            self._depth -= 1
            self._start(bare(name), attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "t":
            self._parts = None
        elif name == "si":
            self._keep(plain_text("".join(self._item)))
        elif name == "rPh":
            self._is_phonetic = False
        elif ":" in name:
            self._depth += 1
            self._end(bare(name))

    def _text(self, text: str) -> None:
        if self._parts is None:
            return
        self._size += len(text)
        if self._size > MAX_CELL:
            said = f"A text of the workbook is longer than {MAX_CELL:,} characters. Shorten it."
            raise FileProblem("cell_too_long", said)
        self._parts.append(text)

    def _keep(self, text: str) -> None:
        self._held += len(text)
        if self._held <= _HELD and self._file is None:
            self.held.append(text)
            return
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  closed with this object
            finalize(self, self._file.close)
        packed = text.encode("utf-8", "surrogatepass")
        self._file.write(packed)
        self._ends.append(self._ends[-1] + len(packed))
