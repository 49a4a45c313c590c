"""What a search compares: the case and the form of letters folded, JSON's escapes resolved.

The database folds the case of ASCII letters by itself. Only texts for which that is not enough
have a folded copy, so that a search means the same on every database and costs as little.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

_ESCAPED: Final = re.compile(
    r"(?<!\\)\\+u((?:[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F]|[0-9a-fA-F]{2})[0-9a-fA-F]{2})"
)
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_SYNTAX: Final = frozenset('"\\')  # stays escaped, as in any JSON text


def fold_text(text: str) -> str:
    """The text as searches compare it: Unicode case folding, NFC, and no escapes of letters.

    Equal for texts that differ in case or in how an accent is composed. Escapes of control
    characters, of a quotation mark and of a backslash stay.
    """
    if "\\u" in text:
        text = _ESCAPED.sub(_unescape, text)
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


def lower_ascii(text: str) -> str:
    """The text with the ASCII letters in lower case, as every database folds them."""
    return text.translate(_LOWER)


def may_need_copy(text: str) -> bool:
    """Whether folding may change more than the case of ASCII letters; quick, for every row."""
    return not text.isascii() or "\\u" in text


def search_copy(text: str) -> str | None:
    """The folded text; None where it is the text itself but for the case of ASCII letters."""
    if not may_need_copy(text):
        return None
    folded = fold_text(text)
    # The case of ASCII letters alone, which `bytes.lower` folds.
    alike = folded.encode(errors="replace") == text.encode(errors="replace").lower()
    return None if alike else folded


def _unescape(escape: re.Match[str]) -> str:
    digits = escape[1]
    if len(digits) == 4:
        char = chr(int(digits, 16))
    else:
        high, low = int(digits[:4], 16), int(digits[-4:], 16)
        char = chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
    is_kept = char < " " or char in _SYNTAX or "\ud800" <= char <= "\udfff"
    return escape[0] if is_kept else char
