"""The texts that a workbook's cells share: read as far as they are asked for, not held for ever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoring.core.files.rows import MAX_CELL, FileProblem
from scoring.core.files.xlsx.cell_texts import plain_text
from scoring.core.files.xlsx.feed import MAX_DEPTH, Handlers, Shortcut, bare, refuse_deep
from scoring.core.files.xlsx.kept_texts import KeptTexts
from scoring.core.files.xlsx.plain import plain_items
from scoring.core.files.xlsx.workbook import Workbook


class SharedTexts:
    """Texts by their place. A sheet asks for them mostly in order, so few are read ahead."""

    def __init__(self, book: Workbook) -> None:
        self.has_escapes = False  # so that a text read so far may hold signs that XML cannot
        self._texts = KeptTexts()
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

    def __getitem__(self, place: int) -> str:
        """Raises IndexError when there is no such text."""
        if 0 <= place < len(self._held):
            return self._held[place]
        if place < 0:
            raise IndexError(place)
        return self.several([place])[0]

    def several(self, places: Sequence[int]) -> list[str]:
        """The texts at these places, counted from 0; raises IndexError when one is not there."""
        last = max(places, default=-1)
        while last >= len(self._texts):
            if next(self._steps, self) is self:
                raise IndexError(last)
        return self._texts.several(places)

    def _take(self, items: str) -> bool:
        """Plainly written texts at once, as if the parser had told of each of their elements."""
        texts = plain_items(items)
        if texts is None:
            return False
        self._keep(texts)
        return True

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
            self._start(bare(name), attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "t":
            self._parts = None
        elif name == "si":
            self._keep(["".join(self._item)])
            is_inside = self._is_phonetic or self._parts is not None
            self._is_between = self._depth == 1 and not is_inside
        elif name == "rPh":
            self._is_phonetic = False
        elif ":" in name:
            self._depth += 1
            self._end(bare(name))

    def _text(self, text: str) -> None:
        self._is_between = False
        if self._parts is None:
            return
        self._size += len(text)
        if self._size > MAX_CELL:
            said = f"A text of the workbook is longer than {MAX_CELL:,} characters. Shorten it."
            raise FileProblem("cell_too_long", said)
        self._parts.append(text)

    def _keep(self, texts: list[str]) -> None:
        if any("_x" in text for text in texts):
            self.has_escapes = True
            texts = [plain_text(text) for text in texts]
        self._texts.add(texts)
