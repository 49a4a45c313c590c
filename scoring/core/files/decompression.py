"""Decompression with a limit on the unpacked size."""

from __future__ import annotations

import zlib
from typing import BinaryIO, Final

from scoring.core.files.rows import FileProblem

MAX_UNPACKED: Final = 2 * 1024**3  # bytes of one file
_CHUNK: Final = 64 * 1024
_GZIP: Final = 31  # zlib's sign for a stream with the header and the checksum of gzip
_MAGIC: Final = b"\x1f\x8b"


class Allowance:
    """Counts unpacked bytes; raises FileProblem `too_large_unpacked` beyond MAX_UNPACKED."""

    def __init__(self) -> None:
        self._left = MAX_UNPACKED

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            text = (
                f"The file unpacks to more than {MAX_UNPACKED // 1024**2:,} MiB. "
                "Split it, or leave columns out."
            )
            raise FileProblem("too_large_unpacked", text)


class Gunzip:
    """The contents of a gzip stream, which may have several members.

    Raises FileProblem: type_mismatch when it is no gzip stream, corrupt_archive when it is broken
    or breaks off, too_large_unpacked.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._inflater = zlib.decompressobj(_GZIP)
        self._packed = b""
        self._allowance = Allowance()
        self._has_begun = False

    def seekable(self) -> bool:
        return self._stream.seekable()

    def read(self, size: int) -> bytes:
        """At least one byte and at most `size`; b"" at the end."""
        if not self._has_begun and not self._begin():
            return b""
        chunk = b""
        while not chunk:
            if self._inflater.eof and not self._begin_next_member():
                return b""
            chunk = self._inflate(size)
        self._allowance.spend(len(chunk))
        return chunk

    def _begin(self) -> bool:
        self._packed = self._stream.read(_CHUNK)
        self._has_begun = True
        if self._packed and not self._packed.startswith(_MAGIC[: len(self._packed)]):
            text = f"“{self._name}” is not packed with gzip. Name it without .gz, or pack it."
            raise FileProblem("type_mismatch", text)
        return bool(self._packed)

    def _inflate(self, size: int) -> bytes:
        packed = self._packed or self._stream.read(_CHUNK)
        try:
            chunk = self._inflater.decompress(packed, size)
        except zlib.error:
            raise self._broken("is damaged") from None
        self._packed = self._inflater.unconsumed_tail
        if not packed and not chunk and not self._inflater.eof:
            raise self._broken("breaks off")
        return chunk

    def _begin_next_member(self) -> bool:
        """Whether another member follows; padding with zeros is none."""
        rest = self._inflater.unused_data.lstrip(b"\0")
        while not rest and (chunk := self._stream.read(_CHUNK)):
            rest = chunk.lstrip(b"\0")
        self._packed = rest
        if rest:
            self._inflater = zlib.decompressobj(_GZIP)
        return bool(rest)

    def _broken(self, how: str) -> FileProblem:
        text = f"The gzip archive “{self._name}” {how}. Pack or send it again."
        return FileProblem("corrupt_archive", text)
