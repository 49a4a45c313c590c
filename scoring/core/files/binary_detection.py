"""Detection of binary files, by their first bytes or by what no text contains."""

from __future__ import annotations

import codecs
import re
from typing import Final
from unicodedata import category

from scoring.core.files.rows import FileProblem

BOMS: Final = (  # UTF-32 first: its little-endian mark begins with the one of UTF-16
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
    (b"\x7fELF", "a program"),
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
_OWN_NAME: Final = {
    b"PK\x03\x04": "Unpack it, or name a workbook .xlsx.",
    b"\x1f\x8b": "Unpack it, or name it as it is: .csv.gz, .jsonl.gz and so on.",
}
_ADVICE: Final = "Upload a CSV, TSV, JSON, JSONL or XLSX file instead."
_LOOKED_AT: Final = 64 * 1024  # bytes
_SAMPLE: Final = 800  # bytes, of which four make a character at most
_USUAL: Final = "\t\n\v\f\r\x1b"
_CONTROLS: Final = bytes({*range(0x20)} - {*_USUAL.encode()})
_FEW: Final = 4  # control characters, which any text may hold
_SOME, _MANY, _MOST = 0.05, 0.15, 0.3  # shares; bytes at random have 0.1
_UNMARKED: Final = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_NO_TEXT: Final = frozenset({"Cc", "Cn", "Co", "Cs"})  # Unicode's categories
_ASCII: Final = re.compile(r"[\t-~]")


def refuse_binary(head: bytes, name: str) -> None:
    """Raise FileProblem `type_mismatch` when the first bytes are those of no text format."""
    kind, advice = _kind_of(head)
    if kind:
        subject = f"“{name}”" if name else "The input"
        raise FileProblem("type_mismatch", f"{subject} is {kind}. {advice}")


def guess_encoding(head: bytes) -> str:
    """The codec of a text whose first bytes are not UTF-8, or UTF-8 full of NULs; "" for none.

    Some characters of such a text are ASCII: a NUL and another byte.
    """
    sample = head[:_SAMPLE]
    if b"\0" not in sample or (_share_of_controls(sample) < _MANY and _decode(sample, "utf-8")):
        return ""
    return next((codec for codec in _UNMARKED if _is_text(sample, codec)), "")


def _kind_of(head: bytes) -> tuple[str, str]:
    """The kind of file and advice; "" for what may be a text."""
    start = head.removeprefix(codecs.BOM_UTF8)[:64].lstrip()
    for magic, kind in _FOREIGN:
        if start.startswith(magic) or start[: len(magic)].lower() == magic:
            return kind, _OWN_NAME.get(magic, _ADVICE)
    if head[257:262] == b"ustar":
        return "a tar archive", "Unpack it."
    return ("a binary file, not text", _ADVICE) if _is_binary(head) else ("", "")


def _is_binary(head: bytes) -> bool:
    """Whether so many bytes are control characters as in no text, whatever its encoding."""
    sample = head[:_LOOKED_AT]
    share = _share_of_controls(sample)
    if share * len(sample) < _FEW or share < _SOME or (share < _MOST and _decode(sample, "utf-8")):
        return False
    return not (head.startswith(tuple(mark for mark, _ in BOMS)) or guess_encoding(head))


def _share_of_controls(sample: bytes) -> float:
    return 1 - len(sample.translate(None, _CONTROLS)) / max(len(sample), 1)


def _decode(sample: bytes, codec: str) -> str:
    """The text, "" if a byte does not decode; the last character may be cut off."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return ""


def _is_text(sample: bytes, codec: str) -> bool:
    text = _decode(sample, codec)
    odd = sum(category(character) in _NO_TEXT and character not in _USUAL for character in text)
    return odd <= len(text) * _SOME and _ASCII.search(text) is not None
