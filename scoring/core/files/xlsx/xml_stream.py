"""Feeds the XML of a workbook's part to its reader, most of it without the parser.

The parser (expat) calls back for every element, which costs more than everything else that is done
with a large sheet. Nearly all of a part is a sequence of rows or texts, which programs write in few
ways; a reader matches those by one expression and takes them at once (`Shortcut`). All else goes to
the parser. Elements are taken only where the parser is between two of them, so that it need not
see them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn
from xml.parsers import expat

from scoring.core.files.rows import MAX_CELL, MAX_LINE, FileProblem

MAX_DEPTH: Final = 64  # elements inside each other
_MAX_REST: Final = MAX_CELL // 4  # bytes without an end tag; so what is taken has no cell too long

Start = Callable[[str, dict[str, str]], None]


class Shortcut(NamedTuple):
    """Elements with the end tag `end` that their reader can take as text.

    `is_next` says whether the parser's last callback was the end of such an element, after which
    more may follow. `take` is then called with whole elements, and takes all or returns False.
    """

    end: bytes
    is_next: Callable[[], bool]
    take: Callable[[str], bool]


class Handlers(NamedTuple):
    """The parser's own callbacks; a layer in between would add a third to the time.

    So names have their prefix (`local_name` removes it), and the handlers count how deep elements
    are nested (`refuse_deep`).
    """

    start: Start
    end: Callable[[str], None]
    text: Callable[[str], None]
    shortcut: Shortcut | None = None


class XmlStream:
    """Feeds a part to handlers in chunks.

    Raises FileProblem: corrupt_archive, unsafe_xml, line_too_long.
    """

    def __init__(self, part: str, handlers: Handlers) -> None:
        self._part, self._shortcut = part, handlers.shortcut
        self._parser = _parser(handlers)
        self._parser.XmlDeclHandler = self._declared
        self._is_utf8 = True  # unless declared otherwise
        self._parsed = 0  # bytes
        self._rest = b""  # after the last end tag

    def give(self, chunk: bytes) -> None:
        """The next bytes; b"" ends the part."""
        if self._shortcut is None:
            self._parse(chunk, is_last=not chunk)
            return
        whole, end, self._rest = (self._rest + chunk).rpartition(self._shortcut.end)
        if end and not self._is_taken(whole + end, self._shortcut):
            self._parse(whole + end)
        if not chunk or len(self._rest) > _MAX_REST:
            rest, self._rest = self._rest, b""
            self._parse(rest, is_last=not chunk)

    def _is_taken(self, elements: bytes, shortcut: Shortcut) -> bool:
        """Whether their reader takes them: only where the parser is after such an element.

        Its last input ended with an end tag. Inside a comment the parser would not have consumed
        that tag, inside a CDATA section it would have called back with it as text.
        """
        is_after = self._parser.CurrentByteIndex == self._parsed and shortcut.is_next()
        if not (is_after and self._is_utf8):
            return False
        try:
            return shortcut.take(elements.decode())
        except UnicodeDecodeError:  # which the parser reports
            return False

    def _declared(self, _: str, encoding: str | None, __: int) -> None:
        if encoding and encoding.upper() != "UTF-8":
            self._is_utf8 = False

    def _parse(self, piece: bytes, *, is_last: bool = False) -> None:
        self._parsed += len(piece)
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as fault:
            reason = expat.ErrorString(fault.code)
            text = f"The part {self._part} of the workbook is no XML ({reason}). Save it again."
            raise FileProblem("corrupt_archive", text) from None
        if self._parsed - self._parser.CurrentByteIndex > MAX_LINE:
            text = f"One tag in {self._part} is longer than {MAX_LINE:,} characters."
            raise FileProblem("line_too_long", text)


def local_name(name: str) -> str:
    """The element's name without its prefix."""
    return name.rpartition(":")[2]


def refuse_deep() -> NoReturn:
    """Elements are nested deeper than MAX_DEPTH, which would cost memory for each."""
    raise _unsafe(f"Its elements are nested deeper than {MAX_DEPTH}.")


def _parser(handlers: Handlers) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise _unsafe("It declares a document type, which may hide entities.")

    parser.StartElementHandler, parser.EndElementHandler = handlers.start, handlers.end
    parser.CharacterDataHandler = handlers.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return parser


def _unsafe(why: str) -> FileProblem:
    return FileProblem("unsafe_xml", f"The workbook is not safe to read. {why} Save it anew.")
