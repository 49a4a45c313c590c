"""A file or stream whose beginning can be read ahead."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from typing import BinaryIO, Final, cast
from weakref import finalize

from scoring.core.disk_full import close_quietly
from scoring.core.files.binary_detection import BOMS, guess_encoding, refuse_binary
from scoring.core.files.decompression import Allowance, Gunzip
from scoring.core.files.disk_problem import reporting_disk_full
from scoring.core.files.rows import EncodingProblem, FileProblem

PACKED: Final = ".gz"
_COPIED: Final = 1024 * 1024  # bytes at a time

_ZIP: Final = b"PK\x03\x04"
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_OTHER_WORKBOOKS: Final = (".xls", ".xlsb", ".ods")


class Source:
    """Bytes read once, in order; `peek` shows the beginning without using it up.

    Where the name ends in .gz, name and bytes are those of the packed file. Of a pipe, `peek` waits
    for no more than its first line, so that `score -` answers line by line.
    """

    def __init__(self, stream: BinaryIO, name: str = "") -> None:
        self._is_live = not stream.seekable()
        self._packed = is_packed(name)
        is_file = not (self._is_live or self._packed) and hasattr(stream, "seek")
        self._file = stream if is_file else None
        self._stream = stream
        self.reported_share: float | None = None  # by a reader of bytes out of order
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        if self._packed:
            self._read = Gunzip(stream, name).read
        self.name = name[: -len(PACKED)] if self._packed else name
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
        """The share of a file's bytes that has been read, 0 to 1; rows may lag behind."""
        if self.reported_share is not None:
            return self.reported_share
        size = os.fstat(self._stream.fileno()).st_size
        return min(1.0, self._stream.tell() / size) if size else 1.0

    def decodes_as(self, encoding: str) -> bool:
        """Whether every byte is text in that encoding; nothing can be read afterwards.

        False for a pipe, of which only the beginning may have come.
        """
        if self._is_live:
            return False
        rewind = getattr(self._stream, "rewind", None) or partial(self._stream.seek, 0)
        rewind()
        read = Gunzip(self._stream, f"{self.name}{PACKED}").read if self._packed else self._read
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            while chunk := read(_COPIED):
                decoder.decode(chunk)
            decoder.decode(b"", True)
        except (UnicodeError, FileProblem):
            return False
        return True

    def as_file(self) -> BinaryIO:
        """All bytes as a seekable file; a temporary copy if they are packed or come by a pipe."""
        if self._file is None:
            copy = TemporaryFile()  # noqa: SIM115  closed with this object
            finalize(self, close_quietly, copy)
            allowance = Allowance()
            while chunk := self.read(_COPIED):
                allowance.spend(len(chunk))
                with reporting_disk_full():
                    copy.write(chunk)
            with reporting_disk_full():
                copy.flush()
            self._file = cast("BinaryIO", copy)
        return self._file


def is_packed(name: str) -> bool:
    return name.lower().endswith(PACKED)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    with path.open("rb") as stream:
        yield Source(stream, path.name)


def detect_encoding(head: bytes, wanted: str = "") -> tuple[str, int]:
    """The codec's name and the length of the byte order mark.

    A mark decides unless an encoding is wanted; without either it is UTF-8. Raises FileProblem
    `encoding` for an unknown name and for UTF-16 or UTF-32 without a mark, which would pass as text
    full of NULs, or, where UTF-16 is wanted, leave the order of its bytes open.
    """
    marked, mark_length = next(
        ((name, len(mark)) for mark, name in BOMS if head.startswith(mark)), ("", 0)
    )
    unicode = ("utf-8", "utf-16", "utf-32")
    if wanted and not (marked and _codec_name(wanted).startswith(unicode)):
        name = _codec_name(wanted)
        if name == "utf-16":
            text = (
                "The file does not begin with the byte order mark that UTF-16 needs. "
                "Choose the encoding utf-16-le or utf-16-be, or save the file as UTF-8."
            )
            raise FileProblem("encoding", text, line=1)
        return name, mark_length
    if not marked and (guess := guess_encoding(head)):
        text = f"The file looks like {guess.upper()} without a byte order mark."
        raise EncodingProblem(text, [guess], line=1)
    return marked or "utf-8", mark_length


def is_workbook(head: bytes, name: str) -> bool:
    """Whether it is called an Excel workbook and begins like one.

    Raises FileProblem: unsupported_workbook for other kinds of workbooks, type_mismatch for what
    is only called one.
    """
    ending = PurePath(name.lower()).suffix
    if ending in _OTHER_WORKBOOKS and head.startswith((_ZIP, _OLD_OFFICE)):
        raise _unsupported(name, f"is a workbook in the format {ending[1:].upper()}")
    if ending not in _WORKBOOKS:
        return False
    if head.startswith(_OLD_OFFICE):
        raise _unsupported(name, "is encrypted with a password, or an old XLS workbook")
    if not head.startswith(_ZIP):
        refuse_binary(head, name)
        text = (
            f"“{name}” is called an Excel workbook and is none. Give it the ending of its format."
        )
        raise FileProblem("type_mismatch", text)
    return True


def _unsupported(name: str, what: str) -> FileProblem:
    text = f"“{name}” {what}. Save the sheet as XLSX without a password, or as CSV."
    return FileProblem("unsupported_workbook", text)


def _codec_name(name: str) -> str:
    try:
        "".encode(name)  # refuses codecs such as base64 that turn bytes into bytes
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        text = f"The encoding “{name}” is unknown. Use utf-8, utf-16, cp1252 or latin-1."
        raise FileProblem("encoding", text) from None
