"""Texts by index: the first in memory, the others in an anonymous temporary file."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from tempfile import TemporaryFile
from typing import IO, Final
from weakref import finalize

from scoring.core.disk_full import close_quietly
from scoring.core.files.disk_problem import reporting_disk_full

_HELD: Final = 16 * 1024 * 1024  # characters in memory
_FRESH: Final = 2 * 1024 * 1024  # characters of the file's last texts, which are read next


class StringStore:
    """Texts are added at the end, and mostly read in that order."""

    def __init__(self) -> None:
        self.held: list[str] = []  # the first
        self._ends = array("Q", [0])  # of the texts in the file, in bytes
        self._flushed = 0
        self._fresh: list[str] = []  # the file's last texts
        self._size = self._fresh_size = 0

    def __len__(self) -> int:
        return len(self.held) + len(self._ends) - 1

    def add(self, texts: Sequence[str]) -> None:
        size = sum(map(len, texts))
        self._size += size
        if self._size <= _HELD:
            self.held += texts
            return
        if self._fresh_size + size > _FRESH:
            self._fresh, self._fresh_size = [], 0
        self._fresh += texts
        self._fresh_size += size
        self._write([text.encode("utf-8", "surrogatepass") for text in texts])

    def get_many(self, indexes: Sequence[int]) -> list[str]:
        """The texts at these indexes, all of which exist."""
        held, count = self.held, len(self.held)
        fresh, first = self._fresh, len(self) - len(self._fresh)
        return [
            held[index]
            if index < count
            else fresh[index - first]
            if index >= first
            else self._read(index - count)
            for index in indexes
        ]

    @cached_property
    def _file(self) -> IO[bytes]:
        file = TemporaryFile()  # noqa: SIM115  closed with this object
        finalize(self, close_quietly, file)
        return file

    def _write(self, packed: Sequence[bytes]) -> None:
        with reporting_disk_full():
            self._file.write(b"".join(packed))
        self._ends.extend([*accumulate(map(len, packed), initial=self._ends[-1])][1:])

    def _read(self, index: int) -> str:
        """The text at this index of the file."""
        start, end = self._ends[index], self._ends[index + 1]
        if end > self._flushed:
            with reporting_disk_full():
                self._file.flush()
            self._flushed = self._ends[-1]
        return os.pread(self._file.fileno(), end - start, start).decode("utf-8", "surrogatepass")
