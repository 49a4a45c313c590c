"""The number formats of workbooks in pieces (ECMA-376 part 1, 18.8.31)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Kind = Literal["literal", "digit", "point", "comma", "percent", "day", "unknown"]

#: The formats that have a number instead of a text. Those of 14 and 22 depend on the computer.
BUILT_IN: Final = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    12: "# ?/?", 13: "# ??/??", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip
_PIECE: Final = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|am/pm|a/p|general|y+|m+|d+|h+|s+|.', re.IGNORECASE | re.DOTALL
)
_CURRENCY: Final = re.compile(r"\[\$([^\]-]*)(?:-[0-9A-Fa-f]*)?\]")
_ELAPSED: Final = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_COLOUR: Final = re.compile(
    r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]", re.IGNORECASE
)
_OF_DAYS: Final = re.compile(r"am/pm|a/p|y+|m+|d+|h+|s+", re.IGNORECASE)
_SIGNS: Final[dict[str, Kind]] = {
    **dict.fromkeys("0#?", "digit"),
    ".": "point",
    ",": "comma",
    "%": "percent",
    "@": "unknown",
}


class Part(NamedTuple):
    """A piece of a format. The text of a `literal` is what is shown, of a `day` in lower case."""

    kind: Kind
    text: str


def format_sections(code: str) -> list[list[Part]]:
    """The format's sections: for positive numbers, negative ones, zero, texts."""
    sections: list[list[Part]] = [[]]
    for written in _PIECE.findall(code):
        if written == ";":
            sections.append([])
        elif part := _part(written):
            sections[-1].append(part)
    return sections


def _part(written: str) -> Part | None:
    first = written[0]
    if len(written) > 1 and first in '"\\_*[':
        return _marked(written)
    if _OF_DAYS.fullmatch(written):
        return Part("day", written.lower())
    if written.isalpha() and written.isascii():
        return Part("unknown", written)
    return Part(_SIGNS.get(written, "literal"), written)


def _marked(written: str) -> Part | None:
    """A piece that begins with a mark: a quoted text, an escape, a width, or brackets."""
    first = written[0]
    if first == '"':
        return Part("literal", written[1:-1])
    if first == "\\":
        return Part("literal", written[1])
    if first in "_*":  # a space as wide as the next character, or that character as a filling
        return Part("literal", " " if first == "_" else "")
    if currency := _CURRENCY.fullmatch(written):
        return Part("literal", currency[1])
    if _ELAPSED.fullmatch(written):
        return Part("day", written.lower())
    return None if _COLOUR.fullmatch(written) else Part("unknown", written)
