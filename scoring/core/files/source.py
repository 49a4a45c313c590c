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

from scoring.core.files.rows import FileProblem
from scoring.core.files.unpacked import Allowance, Gunzip

PACKED: Final = ".gz"
_COPIED: Final = 1024 * 1024  # bytes at a time

_BOMS: Final = (  # UTF-32 first: its little-endian mark begins with the one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FOREIGN: Final = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\xfd7zXZ\x00", "an XZ archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1\x15", "a Parquet file"),
    (b"<!doctype", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document"),
)

_ZIP: Final = b"PK\x03\x04"
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_OTHER_WORKBOOKS: Final = (".xls", ".xlsb", ".ods")
_OWN_NAME: Final = {
    b"PK\x03\x04": "Unpack it, or name a workbook .xlsx.",
    b"\x1f\x8b": "Unpack it, or name it as it is: .csv.gz, .jsonl.gz and so on.",
}


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
            finalize(self, copy.close)
            allowance = Allowance()
            while chunk := self.read(_COPIED):
                allowance.spend(len(chunk))
                copy.write(chunk)
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
    `encoding` for an unknown name and for UTF-16 without a mark, which would pass as text full
    of NULs, or, where it is wanted, leave the order of its bytes open.
    """
    marked, mark_length = next(
        ((name, len(mark)) for mark, name in _BOMS if head.startswith(mark)), ("", 0)
    )
    if wanted and not (marked and _is_unicode(wanted)):
        name = _known(wanted)
        if name == "utf-16":
            _refuse_orderless()
        return name, mark_length
    if not marked and head[1:400:2].count(0) * 3 > len(head[:400]):
        _refuse_unmarked("utf-16-le")
    if not marked and head[0:400:2].count(0) * 3 > len(head[:400]):
        _refuse_unmarked("utf-16-be")
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
        text = (
            f"“{name}” is called an Excel workbook and is none. Give it the ending of its format."
        )
        raise FileProblem("type_mismatch", text)
    return True


def _unsupported(name: str, what: str) -> FileProblem:
    text = f"“{name}” {what}. Save the sheet as XLSX without a password, or as CSV."
    return FileProblem("unsupported_workbook", text)


def refuse_foreign(head: bytes, name: str) -> None:
    """Raise FileProblem `type_mismatch` when the first bytes are those of no text format."""
    start = head.removeprefix(codecs.BOM_UTF8)[:64].lstrip()
    for magic, kind in _FOREIGN:
        if start.startswith(magic) or start[: len(magic)].lower() == magic:
            shown = f"“{name}”" if name else "The input"
            advice = _OWN_NAME.get(magic, "Upload a CSV, TSV, JSON, JSONL or XLSX file instead.")
            text = f"{shown} is {kind}. {advice}"
            raise FileProblem("type_mismatch", text)


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
        f"The file looks like UTF-16 without a byte order mark. "
        f"Choose the encoding {name}, or save the file as UTF-8."
    )
    raise FileProblem("encoding", text, line=1)
