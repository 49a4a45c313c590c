"""The shared strings of a workbook, read on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoring.core.files.rows import MAX_CELL, FileProblem
from scoring.core.files.xlsx.fast_cells import plain_items
from scoring.core.files.xlsx.number_formats import plain_text
from scoring.core.files.xlsx.string_store import StringStore
from scoring.core.files.xlsx.workbook import Workbook
from scoring.core.files.xlsx.xml_stream import (
    MAX_DEPTH,
    Handlers,
    Shortcut,
    local_name,
    refuse_deep,
)


class SharedStrings:
    """Texts by their index. A sheet names them mostly in order, so few are read ahead."""

    def __init__(self, book: Workbook) -> None:
        self.has_escapes = False  # a text read so far may hold characters that XML cannot
        self._texts = StringStore()
        self._held = self._texts.held
        self._parts: list[str] | None = None  # of the <t> being read
        self._item: list[str] = []
        self._size = 0
        self._is_phonetic = self._is_between = False
        self._depth = 0
        part = book.part_of("sharedStrings")
        shortcut = Shortcut(b"</si>", lambda: self._is_between, self._take)
        handlers = Handlers(self._start, self._end, self._text, shortcut)
        self._steps: Iterator[int] = book.read(part, handlers) if part else iter(())

    def __getitem__(self, index: int) -> str:
        """Raises IndexError when there is no such text."""
        if 0 <= index < len(self._held):
            return self._held[index]
        if index < 0:
            raise IndexError(index)
        return self.get_many([index])[0]

    def get_many(self, indexes: Sequence[int]) -> list[str]:
        """The texts at these indexes, from 0; raises IndexError when there is no such text."""
        last = max(indexes, default=-1)
        while last >= len(self._texts):
            if next(self._steps, None) is None:
                raise IndexError(last)
        return self._texts.get_many(indexes)

    def _take(self, items: str) -> bool:
        """Add plain texts at once, as the parser's callbacks would one by one."""
        texts = plain_items(items)
        if texts is not None:
            self._add(texts)
        return texts is not None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._is_between = False
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
            self._start(local_name(name), attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "t":
            self._parts = None
        elif name == "si":
            self._add(["".join(self._item)])
            is_inside = self._is_phonetic or self._parts is not None
            self._is_between = self._depth == 1 and not is_inside
        elif name == "rPh":
            self._is_phonetic = False
        elif ":" in name:
            self._depth += 1
            self._end(local_name(name))

    def _text(self, text: str) -> None:
        self._is_between = False
        if self._parts is None:
            return
        self._size += len(text)
        if self._size > MAX_CELL:
            problem = f"A text of the workbook is longer than {MAX_CELL:,} characters. Shorten it."
            raise FileProblem("cell_too_long", problem)
        self._parts.append(text)

    def _add(self, texts: list[str]) -> None:
        if any("_x" in text for text in texts):
            self.has_escapes = True
            texts = [plain_text(text) for text in texts]
        self._texts.add(texts)
