"""Strict decoding and line splitting in chunks, with the position of every fault."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import StringIO
from typing import Final

from scoring.core.files.rows import MAX_LINE, EncodingProblem, FileProblem
from scoring.core.files.source import Source, detect_encoding

CHUNK: Final = 256 * 1024
WESTERN: Final = ("cp1252", "latin-1")
_OTHER_ENCODING: Final = "Choose another encoding, or save the file as UTF-8."


class Text:
    """The text of a source in chunks, without its byte order mark.

    A byte that does not decode raises FileProblem `encoding`, or `invalid_unicode` for half a
    surrogate pair, once everything before it has been yielded. It lies in `line`, which is counted
    here unless, without `counts_lines`, it is set by whoever splits the text.
    """

    def __init__(self, source: Source, encoding: str = "", *, counts_lines: bool = True) -> None:
        self._source, self._counts_lines = source, counts_lines
        name, self._skip = detect_encoding(source.peek(4096), encoding)
        self.encoding = name
        self._decoder = codecs.getincrementaldecoder(name)()
        self._offset = self._skip  # of the next byte to be decoded
        self.line = 1  # in which that byte lies
        self._ends_in_cr = False
        self.has_nul = False

    def chunks(self) -> Iterator[str]:
        size = CHUNK
        while True:
            chunk = self._source.read(size)
            yield from self._decode(chunk[self._skip :], is_last=not chunk)
            self._skip = 0
            if not chunk:
                return

    def _decode(self, chunk: bytes, *, is_last: bool) -> Iterator[str]:
        try:
            text = self._decoder.decode(chunk, is_last)
        except UnicodeDecodeError as fault:
            good = fault.object[: fault.start].decode(self.encoding)
            yield from self._look_at(good)
            raise self._undecodable(fault) from None
        except UnicodeError:  # the rarer codecs name no position
            text = f"The file is not {self.encoding.upper()}. {_OTHER_ENCODING}"
            raise FileProblem("encoding", text, line=self.line) from None
        yield from self._look_at(text)
        self._offset += len(chunk)

    def _look_at(self, text: str) -> Iterator[str]:
        if not text:
            return
        if self._counts_lines:
            self.line += line_ends(text) - (self._ends_in_cr and text[0] == "\n")
            self._ends_in_cr = text[-1] == "\r"
        if "\0" in text:
            self.has_nul = True
        yield text

    def _undecodable(self, fault: UnicodeDecodeError) -> FileProblem:
        # The codec's bytes begin with those that it has buffered from the previous chunk.
        buffered = len(self._decoder.getstate()[0])
        offset = self._offset - buffered + fault.start
        bad = fault.object[fault.start : fault.start + 3]
        where = f"Byte {offset:,} (line {self.line:,})"
        if _is_surrogate(fault, bad):
            text = f"{where} is half a character (a lone surrogate). Remove or replace it."
            return FileProblem("invalid_unicode", text, line=self.line)
        text = f"{where}, 0x{bad[0]:02X}, is not {self.encoding.upper()}."
        if self.encoding == "utf-8":
            return EncodingProblem(text, WESTERN, line=self.line)
        return FileProblem("encoding", f"{text} {_OTHER_ENCODING}", line=self.line)


class Lines:
    """The lines of a source with their ends as they are: LF, CRLF or CR, also mixed.

    Raises FileProblem `line_too_long` instead of holding more than MAX_LINE characters.
    """

    def __init__(self, source: Source, encoding: str = "") -> None:
        self._text = Text(source, encoding, counts_lines=False)

    @property
    def has_nul(self) -> bool:
        """Whether any chunk so far held a NUL character."""
        return self._text.has_nul

    def __iter__(self) -> Iterator[str]:
        count, size = 0, 0
        buffer: list[str] = []  # text whose line goes on
        for chunk in self._text.chunks():
            buffer.append(chunk)
            size += len(chunk)
            has_end = "\n" in chunk or "\r" in chunk
            if not has_end and size <= MAX_LINE:
                continue
            lines = split_lines("".join(buffer))
            # A line that does not end in LF may go on, and a CR may be half of a CRLF.
            rest = "" if lines[-1].endswith("\n") else lines.pop()
            if size > MAX_LINE:
                _refuse_long([*lines, rest], count)
            yield from lines
            count += len(lines)
            self._text.line = 1 + count + rest.endswith("\r")
            buffer, size = [rest] if rest else [], len(rest)
        yield from split_lines("".join(buffer))


def split_lines(text: str) -> list[str]:
    """Splits at LF, CRLF and CR only: `str.splitlines` would also cut at U+2028 and others."""
    return StringIO(text, newline="").readlines()


def line_ends(text: str) -> int:
    if "\r" not in text:  # as in most files, and told in a sixth of the time
        return text.count("\n")
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _refuse_long(lines: list[str], count: int) -> None:
    """Raise FileProblem if one of the lines, which follow `count` others, is too long."""
    for number, line in enumerate(lines, start=count + 1):
        if len(line) > MAX_LINE:
            text = (
                f"Line {number:,} is longer than {MAX_LINE:,} characters. "
                "Check its line ends, or shorten its texts."
            )
            raise FileProblem("line_too_long", text, line=number)


def _is_surrogate(fault: UnicodeDecodeError, bad: bytes) -> bool:
    if fault.encoding.startswith(("utf-16", "utf-32")):
        return "surrogate" in fault.reason
    return fault.encoding == "utf-8" and bad[0] == 0xED and bad[1:2] >= b"\xa0"
