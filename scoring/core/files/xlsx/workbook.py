"""A workbook's parts: a ZIP archive of XML, opened with suspicion and read as a stream."""

from __future__ import annotations

import posixpath
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from scoring.core.files.rows import FileProblem
from scoring.core.files.unpacked import Allowance
from scoring.core.files.xlsx.feed import MAX_DEPTH, Feed, Handlers, Start, bare, refuse_deep

MAX_PARTS: Final = 10_000
MAX_DIRECTORY: Final = 8 * 1024 * 1024  # bytes of the archive's table of contents
_CHUNK: Final = 64 * 1024
_TAIL: Final = 22 + 0xFFFF  # the longest end record with its comment
_ENCRYPTED: Final = 0x1
_FAULTS: Final = (
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError),
    *(RuntimeError, ValueError, OverflowError, IndexError, KeyError),
)


class Workbook:
    """The parts of a workbook by their names; `sheets` leads from names to parts, in order, of
    which some are `shown`.

    Raises FileProblem: corrupt_archive, unsafe_archive, unsafe_xml, unsupported_workbook,
    too_large_unpacked.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._allowance = Allowance()
        with archive_faults():
            _refuse_many(file)
            self._archive = ZipFile(file)
        self._parts = _checked(self._archive.infolist())
        self._relations = self._targets()
        self.sheets, self.is_1904 = self._listed()
        if not self.sheets:
            raise unsupported("It has no sheet with cells.")

    def sheet_named(self, name: str) -> str:
        """The sheet's name, the first one's for ""; raises FileProblem `missing_sheet`."""
        if name and name not in self.sheets:
            text = f"There is no sheet “{name}”. Found: {', '.join(self.sheets)}."
            raise FileProblem("missing_sheet", text)
        return name or next(iter(self.sheets))

    def part_of(self, kind: str) -> str:
        """The part that the workbook relates to as `sharedStrings`, `styles` …; "" for none."""
        return next((part for of, part in self._relations.values() if of == kind), "")

    def size_of(self, part: str) -> int:
        """The part's unpacked bytes, as the archive tells them; at least 1."""
        return max(1, self._parts[part].file_size)

    def read(self, part: str, handlers: Handlers) -> Iterator[int]:
        """Tell the handlers what the part holds, chunk by chunk: a step of the iteration each.

        Gives how many of its bytes were read.
        """
        feed = Feed(part, handlers)
        fed, chunk = 0, b" "
        with archive_faults(), self._archive.open(self._parts[part]) as stream:
            while chunk:
                chunk = stream.read(_CHUNK)
                self._allowance.spend(len(chunk))
                feed.give(chunk)
                fed += len(chunk)
                yield fed

    def read_whole(self, part: str, start: Start) -> None:
        reader = _Careful(start)
        for _ in self.read(part, Handlers(reader.start, reader.end, lambda _: None)):
            pass

    def _targets(self) -> dict[str, tuple[str, str]]:
        """The workbook's relations: id → what it is and which part."""
        main = "xl/workbook.xml"
        if main not in self._parts:
            raise unsupported("It is a ZIP archive without the parts of an Excel workbook.")
        found: dict[str, tuple[str, str]] = {}

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                kind = attributes.get("Type", "").rpartition("/")[2]
                target = posixpath.normpath(posixpath.join("/xl", attributes.get("Target", "")))
                part = target.lstrip("/")
                if part in self._parts:
                    found[attributes.get("Id", "")] = (kind, part)

        relations = "xl/_rels/workbook.xml.rels"
        if relations in self._parts:
            self.read_whole(relations, start)
        return found

    def _listed(self) -> tuple[dict[str, str], bool]:
        """The worksheets, those that show first, and whether days count from 1904."""
        shown: dict[str, str] = {}
        hidden: dict[str, str] = {}
        bases: list[str] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "workbookPr":
                bases.append(attributes.get("date1904", ""))
            elif name == "sheet":
                related = next((v for k, v in attributes.items() if k.endswith(":id")), "")
                kind, part = self._relations.get(related, ("", ""))
                if kind == "worksheet":
                    is_shown = attributes.get("state", "visible") == "visible"
                    (shown if is_shown else hidden)[attributes.get("name", "")] = part

        self.read_whole("xl/workbook.xml", start)
        self.shown = tuple(shown)
        return shown | hidden, bases[:1] in (["1"], ["true"])


class _Careful:
    """Tells of elements by their bare names, down to a depth."""

    def __init__(self, start: Start) -> None:
        self._start, self._depth = start, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_deep()
        self._start(bare(name), attributes)

    def end(self, _: str) -> None:
        self._depth -= 1


def unsupported(why: str) -> FileProblem:
    text = f"This workbook cannot be read. {why} Save the sheet as XLSX without a password, or CSV."
    return FileProblem("unsupported_workbook", text)


@contextmanager
def archive_faults() -> Iterator[None]:
    """Whatever zipfile stumbles over is told as `corrupt_archive`."""
    try:
        yield
    except _FAULTS as fault:
        text = f"The workbook is damaged ({str(fault)[:120]}). Save or send it again."
        raise FileProblem("corrupt_archive", text) from None


def _refuse_many(file: BinaryIO) -> None:
    """Look at the size of the archive's directory before zipfile holds all of it."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL - 20))
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) < place + 22:
        raise BadZipFile("its end is missing")
    count, directory = struct.unpack_from("<HI", tail, place + 10)
    locator = tail[max(0, place - 20) : place]
    if locator.startswith(b"PK\x06\x07"):
        file.seek(struct.unpack_from("<Q", locator, 8)[0])
        count, directory = struct.unpack_from("<QQ", file.read(56), 32)
    if count > MAX_PARTS or directory > MAX_DIRECTORY:
        raise _unsafe(f"It lists more than {MAX_PARTS:,} parts.")


def _checked(parts: list[ZipInfo]) -> dict[str, ZipInfo]:
    found: dict[str, ZipInfo] = {}
    if len(parts) > MAX_PARTS:
        raise _unsafe(f"It lists more than {MAX_PARTS:,} parts.")
    for part in parts:
        name = part.orig_filename
        if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
            raise _unsafe("A part's name leads out of it.")
        if part.filename in found:
            raise _unsafe(f"Two of its parts are called {part.filename[:80]}.")
        if part.flag_bits & _ENCRYPTED:
            raise unsupported("It is encrypted.")
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise unsupported("It is packed in an unusual way.")
        found[part.filename] = part
    return found


def _unsafe(why: str) -> FileProblem:
    return FileProblem("unsafe_archive", f"The workbook is not safe to open. {why} Save it anew.")
