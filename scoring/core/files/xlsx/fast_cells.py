"""Rows and shared texts as programs nearly always write them, each matched by one expression.

The expressions match only what is certainly well-formed XML: attributes in the order of the
standard (ECMA-376 part 1, 18.3.1.4, 18.3.1.73, 18.4.8), none twice, and characters that a parser
does not change. Whatever else XML allows does not match, and is left to the parser.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SIGNS: Final = r"[^<>&\x00-\x08\x0b-\x1f\ufffe\uffff]*+"
_TEXT: Final = rf"{_SIGNS}(?:&(?:amp|lt|gt|quot|apos);{_SIGNS})*+"
_T: Final = rf'<t(?: xml:space="preserve")?+>({_TEXT})</t>'
_OF_ROW: Final = (
    *("spans", "s", "customFormat", "ht", "hidden", "customHeight", "outlineLevel", "collapsed"),
    *("thickTop", "thickBot", "ph", "x14ac:dyDescent"),
)
_ROW: Final = (
    r'(</row>)<row(?: r="([0-9]{1,8}+)")?+'
    + "".join(
        rf'(?: {name}="{"([a-z0-9]*+)" if name == "hidden" else "[A-Za-z0-9 .:-]*+"}")?+'
        for name in _OF_ROW
    )
    + ">"
)
_VALUE: Final = rf"(?:<f>{_TEXT}</f>(?!<v></v>))?+<v>({_TEXT})</v>"
_CELL: Final = re.compile(
    rf'(?:{_ROW})?+<c(?: r="([A-Z]{{1,3}}+)[0-9]++")?+(?: s="([0-9]++)")?+'
    rf'(?: t="s"><v>([0-9]{{1,9}}+)</v></c>'
    rf'|(?: t="([A-Za-z]++)")?+(?:/>|>(?:{_VALUE}|<is>{_T}</is>)</c>))'
)
_PHONETIC: Final = r'<phoneticPr fontId="[0-9]++"(?: type="[A-Za-z]++")?+/>'
_ITEM: Final = re.compile(rf"<si>{_T}(?:{_PHONETIC})?+</si>")
_STEP: Final = _CELL.groups + 1
_NAMES: Final = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}

Parts = list[str | None]


class PlainCells(NamedTuple):
    """The cells of whole rows, part by part in their order; None for a part a cell does not have.

    `begins`, `lines`, the row's number, and `hidden` are of the first cell of each row. `shared`
    are indexes of shared texts.
    """

    begins: Parts
    lines: Parts
    hidden: Parts
    letters: Parts
    styles: Parts
    shared: Parts
    kinds: Parts
    values: Parts
    texts: Parts


def plain_cells(rows: str) -> PlainCells | None:
    """None when not all of the rows is written in a known way."""
    parts = _CELL.split(f"</row>{rows.removesuffix('</row>')}")
    if any(parts[::_STEP]):  # between the cells
        return None
    return PlainCells._make(parts[group::_STEP] for group in range(1, _STEP))


def plain_items(items: str) -> list[str] | None:
    """The texts of whole items of shared strings; None as above."""
    parts = _ITEM.split(items)
    if any(parts[::2]):
        return None
    texts = parts[1::2]
    return [unescape_xml(text) for text in texts] if "&" in items else texts


def unescape_xml(text: str) -> str:
    """The text with the five names that XML itself knows undone."""
    if "&" in text:
        for name, sign in _NAMES.items():  # that of & last, so that none is undone twice
            text = text.replace(name, sign)
    return text
