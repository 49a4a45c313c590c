"""How lists of cases are paged, and where a case stands in its run."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final, NamedTuple

PAGE_SIZE: Final = 50
OPENING_LENGTH: Final = 160  # characters of a text that a row shows


class CasePosition(NamedTuple):
    """Where a case stands in its run; it names the case in URLs."""

    position: int
    trial: int = 0

    @property
    def written(self) -> str:
        """As URLs write it: `173`, or `173.2` for a later trial."""
        return f"{self.position}.{self.trial}" if self.trial else str(self.position)


def opening_text(json_text: str) -> str:
    """The text of a truncated JSON value: decoded where the value is a string."""
    if not json_text.startswith('"'):
        return json_text
    # The end may lie inside an escape such as \u00e9, so up to six characters are dropped.
    cut = (f'{json_text[: len(json_text) - length]}"' for length in range(7))
    for written in (json_text, *cut):
        with suppress(ValueError):
            return str(json.loads(written)).encode("utf-8", "ignore").decode()
    return json_text
