"""A file or a stream whose beginning can be looked at before it is read."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from typing import BinaryIO, Final, cast
from weakref import finalize

from scoring.core.files.foreign import BOMS, refuse_foreign, unmarked_encoding
from scoring.core.files.full_disk import close_quietly, full_disk_told
from scoring.core.files.rows import FileProblem
from scoring.core.files.unpacked import Allowance, Gunzip

PACKED: Final = ".gz"
_COPIED: Final = 1024 * 1024  # bytes at a time

_ZIP: Final = b"PK\x03\x04"
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_OTHER_WORKBOOKS: Final = (".xls", ".xlsb", ".ods")


class Source:
    """Bytes read once, in order; `peek` shows the beginning without using it up.

    Where the name ends in .gz, name and bytes are those of the packed file.

    A pipe is never waited on for more than its first line, so that `score -` answers line by
    line.
    """

    def __init__(self, stream: BinaryIO, name: str = "") -> None:
        self._is_live = not stream.seekable()
        is_file = not (self._is_live or is_packed(name)) and hasattr(stream, "seek")
        self._file = stream if is_file else None
        self._stream = stream
        self.told_share: float | None = None  # by a reader that takes the bytes out of order
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        if is_packed(name):
            self._read = Gunzip(stream, name).read
        self.name = name[: -len(PACKED)] if is_packed(name) else name
        self._head = b""
        self.is_whole = False  # `peek` has seen every byte there is
        self.position = 0  # bytes given by `read`

    def peek(self, size: int, *, waits: bool = False) -> bytes:
        """At least `size` bytes from the start, or all there are; may hold more."""
        while len(self._head) < size and not self.is_whole:
            if self._is_live and not waits and b"\n" in self._head:
                break
            chunk = self._read(size - len(self._head))
            self._head += chunk
            self.is_whole = not chunk
        return self._head

    def read(self, size: int) -> bytes:
        """The next bytes, b"" at the end. What was peeked at comes whole, else at most `size`."""
        chunk, self._head = self._head or self._read(size), b""
        self.position += len(chunk)
        return chunk

    @property
    def share(self) -> float:
        """How much of a file's bytes has been read, 0 to 1; beyond what was given so far."""
        if self.told_share is not None:
            return self.told_share
        size = os.fstat(self._stream.fileno()).st_size
        return min(1.0, self._stream.tell() / size) if size else 1.0

    def as_file(self) -> BinaryIO:
        """All bytes as a file with places; a nameless copy when they come packed or by a pipe."""
        if self._file is None:
            copy = TemporaryFile()  # noqa: SIM115  closed with this object
            finalize(self, close_quietly, copy)
            allowance = Allowance()
            while chunk := self.read(_COPIED):
                allowance.spend(len(chunk))
                with full_disk_told():
                    copy.write(chunk)
            with full_disk_told():
                copy.flush()
            self._file = cast("BinaryIO", copy)
        return self._file


def is_packed(name: str) -> bool:
    return name.lower().endswith(PACKED)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    with path.open("rb") as stream:
        yield Source(stream, path.name)


def encoding_of(head: bytes, wanted: str = "") -> tuple[str, int]:
    """The codec's name and the length of the byte order mark.

    A mark decides unless an encoding is wanted; without either it is UTF-8. Raises FileProblem
    `encoding` for an unknown name and for UTF-16 or UTF-32 without a mark, which would pass as text
    full of NULs, or, where UTF-16 is wanted, leave the order of its bytes open.
    """
    marked, mark_length = next(
        ((name, len(mark)) for mark, name in BOMS if head.startswith(mark)), ("", 0)
    )
    if wanted and not (marked and _is_unicode(wanted)):
        name = _known(wanted)
        if name == "utf-16":
            _refuse_orderless()
        return name, mark_length
    if not marked and (unmarked := unmarked_encoding(head)):
        _refuse_unmarked(unmarked)
    return marked or "utf-8", mark_length


def is_workbook(head: bytes, name: str) -> bool:
    """Whether it is called an Excel workbook and begins like one.

    Raises FileProblem: unsupported_workbook for other kinds of workbooks, type_mismatch for what
    is only called one.
    """
    ending = PurePath(name.lower()).suffix
    is_old = head.startswith(_OLD_OFFICE)
    if ending in _OTHER_WORKBOOKS and head.startswith((_ZIP, _OLD_OFFICE)):
        raise _unsupported(name, f"is a workbook in the format {ending[1:].upper()}")
    if ending not in _WORKBOOKS:
        return False
    if is_old:
        raise _unsupported(name, "is encrypted with a password, or an old XLS workbook")
    if not head.startswith(_ZIP):
        refuse_foreign(head, name)
        text = (
            f"“{name}” is called an Excel workbook and is none. Give it the ending of its format."
        )
        raise FileProblem("type_mismatch", text)
    return True


def _unsupported(name: str, what: str) -> FileProblem:
    text = f"“{name}” {what}. Save the sheet as XLSX without a password, or as CSV."
    return FileProblem("unsupported_workbook", text)


def _is_unicode(name: str) -> bool:
    return _known(name).startswith(("utf-8", "utf-16", "utf-32"))


def _known(name: str) -> str:
    try:
        codecs.lookup(name)
        "".encode(name)  # refuses codecs such as base64 that turn bytes into bytes
    except (LookupError, ValueError):
        text = f"The encoding “{name}” is unknown. Use utf-8, utf-16, cp1252 or latin-1."
        raise FileProblem("encoding", text) from None
    return codecs.lookup(name).name


def _refuse_orderless() -> None:
    text = (
        "The file does not begin with the byte order mark that UTF-16 needs. "
        "Choose the encoding utf-16-le or utf-16-be, or save the file as UTF-8."
    )
    raise FileProblem("encoding", text, line=1)


def _refuse_unmarked(name: str) -> None:
    text = (
        f"The file looks like {name.upper()} without a byte order mark. "
        f"Choose the encoding {name}, or save the file as UTF-8."
    )
    raise FileProblem("encoding", text, line=1)
