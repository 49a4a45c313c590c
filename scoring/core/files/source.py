"""A file or a stream whose beginning can be looked at before it is read."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from scoring.core.files.rows import FileProblem

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


class Source:
    """Bytes read once, in order; `peek` shows the beginning without using it up.

    A pipe is never waited on for more than its first line, so that `score -` answers line by
    line.
    """

    def __init__(self, stream: BinaryIO, name: str = "") -> None:
        self.name = name
        self._is_live = not stream.seekable()
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
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


def refuse_foreign(head: bytes, name: str) -> None:
    """Raise FileProblem `type_mismatch` when the first bytes are those of no text format."""
    start = head.removeprefix(codecs.BOM_UTF8)[:64].lstrip()
    for magic, kind in _FOREIGN:
        if start.startswith(magic) or start[: len(magic)].lower() == magic:
            shown = f"“{name}”" if name else "The input"
            text = f"{shown} is {kind}. Upload a CSV, TSV, JSON or JSONL file instead."
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
