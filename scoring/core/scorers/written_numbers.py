"""Numbers as people write them: grouped digits, per cent, fractions, another minus sign."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal
from typing import Final, NamedTuple

_EXACT: Final = Context(prec=500)
_SIGNS: Final = "\u2212\u2012\u2013\ufe63\uff0d"  # of a minus, besides the hyphen
_GROUPS: Final = " \u00a0\u2009\u202f,'\u2019_"  # between groups of three digits
_SHARES: Final = {"%": -2, "\u066a": -2, "\ufe6a": -2, "\uff05": -2, "\u2030": -3}
_FRACTIONS: Final = "\u00bc-\u00be\u2150-\u215e\u2189"
_WRITTEN: Final = re.compile(
    rf"(?P<sign>[-+{_SIGNS}]?)"
    rf"(?P<whole>\d{{1,3}}(?:(?P<group>[{_GROUPS}])\d{{3}}(?:(?P=group)\d{{3}})*)|\d*)"
    r"(?P<rest>(?:\.\d*)?(?:[eE][+-]?\d{1,4})?)"
    rf"(?:[ \u00a0]?(?P<fraction>[{_FRACTIONS}]))?"
    rf"(?:[ \u00a0\u202f]?(?P<share>[{''.join(_SHARES)}]))?",
    re.ASCII,
)
_HAS_DIGITS: Final = re.compile(r"\d|\.\d")
_DECIMAL_COMMA: Final = re.compile(r"[-+]?\d+(?:\.\d{3})*,\d+")
_MAX_LENGTH: Final = 400


class WrittenNumber(NamedTuple):
    """A number, and what of its spelling a strict reader does not take, in words."""

    value: Decimal
    notes: list[str]


def read_written(text: str) -> WrittenNumber | None:
    """The number that a text such as `-1,234.50`, `50 %` or `1½` stands for; None for no number.

    A per cent is a hundredth: `50%` is 0.5. A comma is never a decimal sign.
    """
    digits = _ascii_digits(text.strip())
    match = _WRITTEN.fullmatch(digits) if len(digits) <= _MAX_LENGTH else None
    if match is None:
        return None
    whole, rest = match["whole"].replace(match["group"] or ",", ""), match["rest"]
    if rest if match["fraction"] else not _HAS_DIGITS.match(f"{whole}{rest}"):
        return None
    number = Decimal(f"{whole or '0'}{rest}")
    if match["fraction"]:
        above, _, below = unicodedata.normalize("NFKC", match["fraction"]).partition("\u2044")
        number = _EXACT.add(number, _EXACT.divide(Decimal(above), Decimal(below)))
    if match["share"]:
        number = _EXACT.scaleb(number, _SHARES[match["share"]])
    is_negative = match["sign"] not in ("", "+")
    return WrittenNumber(-number if is_negative else number, _notes(text, match))


def is_decimal_comma(text: str) -> bool:
    """Whether the text is a number but for a comma as its decimal sign."""
    return bool(_DECIMAL_COMMA.fullmatch(text.strip()))


def _notes(text: str, match: re.Match[str]) -> list[str]:
    notes = []
    if not text.isascii() and any(char.isdecimal() and not char.isascii() for char in text):
        notes.append("its digits are not 0 to 9")
    if match["sign"] in tuple(_SIGNS):
        notes.append(f"its minus is {_name(match['sign'])}")
    if match["group"]:
        notes.append(f"its digits are grouped by {_name(match['group'])}")
    if match["fraction"]:
        notes.append(f"{match['fraction']} is a fraction")
    if match["share"]:
        notes.append(f"it ends with {match['share']}")
    return notes


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


def _name(char: str) -> str:
    plain = {" ": "spaces", ",": "commas", "'": "apostrophes", "_": "underscores"}
    if char in plain:
        return plain[char]
    return f"U+{ord(char):04X} ({unicodedata.name(char).lower()})"
