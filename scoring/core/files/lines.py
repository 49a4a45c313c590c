"""Bytes to text: strict decoding and line splitting in chunks, with places for every fault."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import StringIO
from typing import Final

from scoring.core.files.rows import MAX_LINE, FileProblem
from scoring.core.files.source import Source, encoding_of

CHUNK: Final = 256 * 1024
_OTHER_ENCODING: Final = "Choose another encoding, or save the file as UTF-8."


class Text:
    """The text of a source in chunks, without its byte order mark.

    A byte that does not decode raises FileProblem `encoding`, or `invalid_unicode` for half a
    surrogate pair, once everything before it has been given.
    """

    def __init__(self, source: Source, encoding: str = "") -> None:
        self._source = source
        name, self._skip = encoding_of(source.peek(4096), encoding)
        self.encoding = name
        self._decoder = codecs.getincrementaldecoder(name)()
        self._offset = self._skip  # of the next byte to be decoded
        self._line = 1  # in which that byte lies
        self._ends_in_cr = False
        self.has_nul = False

    def chunks(self) -> Iterator[str]:
        size = CHUNK
        while True:
            chunk = self._source.read(size)
            yield from self._decoded(chunk[self._skip :], is_last=not chunk)
            self._skip = 0
            if not chunk:
                return

    def _decoded(self, chunk: bytes, *, is_last: bool) -> Iterator[str]:
        try:
            text = self._decoder.decode(chunk, is_last)
        except UnicodeDecodeError as fault:
            good = fault.object[: fault.start].decode(self.encoding)
            yield from self._counted(good)
            raise self._undecodable(fault) from None
        except UnicodeError:  # the rarer codecs name no place
            text = f"The file is not {self.encoding.upper()}. {_OTHER_ENCODING}"
            raise FileProblem("encoding", text, line=self._line) from None
        yield from self._counted(text)
        self._offset += len(chunk)

    def _counted(self, text: str) -> Iterator[str]:
        if not text:
            return
        self._line += line_ends(text) - (self._ends_in_cr and text[0] == "\n")
        self._ends_in_cr = text[-1] == "\r"
        if "\0" in text:
            self.has_nul = True
        yield text

    def _undecodable(self, fault: UnicodeDecodeError) -> FileProblem:
        # The codec's view begins with bytes it had kept back from the chunk before.
        kept = len(self._decoder.getstate()[0])
        offset = self._offset - kept + fault.start
        found = fault.object[fault.start : fault.start + 3]
        where = f"Byte {offset:,} (line {self._line:,})"
        if _is_surrogate(fault, found):
            text = f"{where} is half a character (a lone surrogate). Remove or replace it."
            return FileProblem("invalid_unicode", text, line=self._line)
        advice = "Save the file as UTF-8, or choose its encoding: "
        advice += "cp1252 (Windows, Western Europe) or latin-1."
        if self.encoding != "utf-8":
            advice = _OTHER_ENCODING
        text = f"{where}, 0x{found[0]:02X}, is not {self.encoding.upper()}. {advice}"
        return FileProblem("encoding", text, line=self._line)


class Lines:
    """The lines of a source with their ends as they are: LF, CRLF or CR, also mixed.

    Raises FileProblem `line_too_long` instead of holding more than MAX_LINE characters.
    """

    def __init__(self, source: Source, encoding: str = "") -> None:
        self._text = Text(source, encoding)

    @property
    def has_nul(self) -> bool:
        """Whether any chunk so far held a NUL character."""
        return self._text.has_nul

    def __iter__(self) -> Iterator[str]:
        given, size = 0, 0
        held: list[str] = []  # text whose line goes on
        for chunk in self._text.chunks():
            held.append(chunk)
            size += len(chunk)
            has_end = "\n" in chunk or "\r" in chunk
            if not has_end and size <= MAX_LINE:
                continue
            lines = split_lines("".join(held))
            # A line that does not end in LF may go on, and a CR may be half of a CRLF.
            rest = "" if lines[-1].endswith("\n") else lines.pop()
            if size > MAX_LINE:
                _refuse_long([*lines, rest], given)
            yield from lines
            given += len(lines)
            held, size = [rest] if rest else [], len(rest)
        yield from split_lines("".join(held))


def split_lines(text: str) -> list[str]:
    """Splits at LF, CRLF and CR only: `str.splitlines` would also cut at U+2028 and others."""
    return StringIO(text, newline="").readlines()


def line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _refuse_long(lines: list[str], given: int) -> None:
    for place, line in enumerate(lines, start=given + 1):
        if len(line) > MAX_LINE:
            text = (
                f"Line {place:,} is longer than {MAX_LINE:,} characters. "
                "Check its line ends, or shorten its texts."
            )
            raise FileProblem("line_too_long", text, line=place)


def _is_surrogate(fault: UnicodeDecodeError, found: bytes) -> bool:
    if fault.encoding.startswith(("utf-16", "utf-32")):
        return "surrogate" in fault.reason
    return fault.encoding == "utf-8" and found[0] == 0xED and found[1:2] >= b"\xa0"
