"""The parts of a workbook: a ZIP archive of XML, checked and read as a stream."""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from scoring.core.files.decompression import Allowance
from scoring.core.files.rows import FileProblem
from scoring.core.files.xlsx.xml_stream import (
    MAX_DEPTH,
    Handlers,
    Start,
    XmlStream,
    local_name,
    refuse_deep,
)

MAX_PARTS: Final = 10_000
MAX_DIRECTORY: Final = 8 * 1024 * 1024  # bytes of the archive's table of contents
_CHUNK: Final = 64 * 1024
_TAIL: Final = 22 + 0xFFFF  # the longest end record with its comment
_TAG: Final = 200  # bytes that the tag of merged cells has at most
_MERGED: Final = re.compile(
    rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,100}?ref\s*=\s*"([A-Z0-9:]{1,30})"'
)
_ENCRYPTED: Final = 0x1
_FAULTS: Final = (
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError),
    *(RuntimeError, ValueError, OverflowError, IndexError, KeyError),
)


class Workbook:
    """The parts of a workbook by their names; `sheets` maps names to parts in order,
    `visible_sheets` are the names of those that are not hidden.

    Raises FileProblem: corrupt_archive, unsafe_archive, unsafe_xml, unsupported_workbook,
    too_large_unpacked.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._allowance = Allowance()
        with archive_faults():
            _check_directory(file)
            self._archive = ZipFile(file)
        self._parts = _check_parts(self._archive.infolist())
        self._relations = self._read_relations()
        self.sheets, self.is_1904 = self._read_sheets()
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
        """Feed the part to the handlers, one chunk per step of the iteration.

        Yields how many of its bytes were read.
        """
        feed = XmlStream(part, handlers)
        size, chunk = 0, b" "
        with archive_faults(), self._archive.open(self._parts[part]) as stream:
            while chunk:
                chunk = stream.read(_CHUNK)
                self._allowance.spend(len(chunk))
                feed.give(chunk)
                size += len(chunk)
                yield size

    def merged_references(self, part: str) -> list[str]:
        """The references of a sheet's merged cells, which stand behind its rows."""
        references: list[str] = []
        allowance, rest = Allowance(), b""
        with archive_faults(), self._archive.open(self._parts[part]) as stream:
            while chunk := stream.read(_CHUNK):
                allowance.spend(len(chunk))
                text = rest + chunk
                references += [match.decode() for match in _MERGED.findall(text)]
                last = text[max(0, text.rfind(b"<")) :]
                rest = last if len(last) < _TAG and b">" not in last else b""
        return references

    def read_whole(self, part: str, start: Start) -> None:
        reader = _ElementReader(start)
        for _ in self.read(part, Handlers(reader.start, reader.end, lambda _: None)):
            pass

    def _read_relations(self) -> dict[str, tuple[str, str]]:
        """The workbook's relations: id → kind and part."""
        main = "xl/workbook.xml"
        if main not in self._parts:
            raise unsupported("It is a ZIP archive without the parts of an Excel workbook.")
        relations: dict[str, tuple[str, str]] = {}

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                kind = attributes.get("Type", "").rpartition("/")[2]
                target = posixpath.normpath(posixpath.join("/xl", attributes.get("Target", "")))
                part = target.lstrip("/")
                if part in self._parts:
                    relations[attributes.get("Id", "")] = (kind, part)

        if "xl/_rels/workbook.xml.rels" in self._parts:
            self.read_whole("xl/_rels/workbook.xml.rels", start)
        return relations

    def _read_sheets(self) -> tuple[dict[str, str], bool]:
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
        self.visible_sheets = tuple(shown)
        return shown | hidden, bases[:1] in (["1"], ["true"])


class _ElementReader:
    """Passes on elements by their names without prefix, down to MAX_DEPTH."""

    def __init__(self, start: Start) -> None:
        self._start, self._depth = start, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_deep()
        self._start(local_name(name), attributes)

    def end(self, _: str) -> None:
        self._depth -= 1


def unsupported(why: str) -> FileProblem:
    text = f"This workbook cannot be read. {why} Save the sheet as XLSX without a password, or CSV."
    return FileProblem("unsupported_workbook", text)


@contextmanager
def archive_faults() -> Iterator[None]:
    """Raise FileProblem `corrupt_archive` for any error of zipfile."""
    try:
        yield
    except _FAULTS as fault:
        text = f"The workbook is damaged ({str(fault)[:120]}). Save or send it again."
        raise FileProblem("corrupt_archive", text) from None


def _check_directory(file: BinaryIO) -> None:
    """Check the size of the archive's directory before zipfile loads it."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL - 20))
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise BadZipFile("its end is missing")
    count, directory = struct.unpack_from("<HI", tail, end + 10)
    locator = tail[max(0, end - 20) : end]
    if locator.startswith(b"PK\x06\x07"):
        file.seek(struct.unpack_from("<Q", locator, 8)[0])
        count, directory = struct.unpack_from("<QQ", file.read(56), 32)
    if count > MAX_PARTS or directory > MAX_DIRECTORY:
        raise _unsafe(f"It lists more than {MAX_PARTS:,} parts.")


def _check_parts(parts: list[ZipInfo]) -> dict[str, ZipInfo]:
    by_name: dict[str, ZipInfo] = {}
    if len(parts) > MAX_PARTS:
        raise _unsafe(f"It lists more than {MAX_PARTS:,} parts.")
    for part in parts:
        name = part.orig_filename
        if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
            raise _unsafe("A part's name leads out of it.")
        if part.filename in by_name:
            raise _unsafe(f"Two of its parts are called {part.filename[:80]}.")
        if part.flag_bits & _ENCRYPTED:
            raise unsupported("It is encrypted.")
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise unsupported("It is packed in an unusual way.")
        by_name[part.filename] = part
    return by_name


def _unsafe(why: str) -> FileProblem:
    return FileProblem("unsafe_archive", f"The workbook is not safe to open. {why} Save it anew.")
