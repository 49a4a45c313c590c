"""The sign that divides the items of a list in one cell: how it is guessed, and how it is used.

Prose holds semicolons, commas and line ends, too. Half of a sentence as a right answer would pass
half an answer, so a sign divides items only where most of the cells that have it look like lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: A comma that no white space follows: of tags such as "Paris, France".
TIGHT_COMMA: Final = ",!"
MIN_SHARE: Final = 0.1  # of the cells that have the sign
SHORT_WORDS: Final = 3  # of an item that is no sentence

_TIGHT: Final = re.compile(r",(?!\s)")


def guess_separator(texts: Sequence[str], marks: str) -> str:
    """The one of the marks that divides most of the texts; "" where none makes lists of them."""
    counts = {mark: sum(mark in text for text in texts) for mark in marks}
    likely = [mark for mark in marks if _divides(texts, mark)]
    best = max(likely, key=lambda mark: counts[mark], default="")
    return _comma(texts) if best == "," else best


def name_separator(separator: str) -> str:
    """As in "split at semicolons"."""
    names = {
        ";": "semicolons",
        "|": "vertical bars",
        "\n": "line ends",
        ",": "commas",
        TIGHT_COMMA: "commas that no space follows",
    }
    return names.get(separator, f"“{separator}”")


def split_text(text: str, separator: str) -> list[str]:
    """The items without the white space around them, empty ones left out."""
    parts = _TIGHT.split(text) if separator == TIGHT_COMMA else text.split(separator)
    return [item for part in parts if (item := part.strip())]


def _divides(texts: Sequence[str], mark: str) -> bool:
    """Whether enough texts have the mark, and most of those look like lists of items."""
    divided = [text for text in texts if mark in text]
    if not divided or len(divided) < MIN_SHARE * len(texts):
        return False
    return sum(_is_list(split_text(text, mark)) for text in divided) * 2 > len(divided)


def _is_list(items: Sequence[str]) -> bool:
    """Whether these are short items, or items that each begin anew, and not parts of a sentence."""
    anew = [_begins_anew(item) for item in items]
    is_short = all(len(item.split()) <= SHORT_WORDS for item in items)
    return all(anew) or (is_short and not (anew and anew[0]))


def _begins_anew(item: str) -> bool:
    """With a capital, a digit, or a letter of a script that has no capitals."""
    first = next((sign for sign in item if sign.isalnum()), "")
    return not first.islower()


def _comma(texts: Sequence[str]) -> str:
    """Every comma, where most texts have one with a space; else those without a space, if any."""
    spaced = sum("," in text and not _TIGHT.search(text) for text in texts)
    tight = sum(bool(_TIGHT.search(text)) for text in texts)
    if spaced * 2 > len(texts) or not spaced:
        return ","
    return TIGHT_COMMA if tight >= MIN_SHARE * len(texts) else ""
