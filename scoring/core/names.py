"""Names of objects: one line, read in the order in which it is written."""

from __future__ import annotations

import re
from typing import Final

NOT_ONE_LINE: Final = (
    "A name is one line, without control characters and marks that turn the direction of writing."
)
CODE: Final = "not_one_line"
#: Control characters, line and paragraph separators, marks of direction, half characters.
_UNFIT: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def is_one_line(text: str) -> bool:
    """Whether the text may be a name as it is."""
    return not _UNFIT.search(text)


def as_one_line(text: str) -> str:
    """The text with a space for what no name holds, and for white space of any length."""
    return " ".join(_UNFIT.sub(" ", text).split())
