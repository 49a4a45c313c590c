"""The one door for texts that an endpoint sends: no key passes it, and only what can be stored.

An endpoint may quote the headers of a request in its answer, also inside a reply of a model. Its
texts are shown, stored and exported, so the key that it was sent is taken out of all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

EXCERPT: Final = 200  # characters of an endpoint's own words
REMOVED_KEY: Final = "[key]"
MAX_LINE_SOURCE: Final = 4_000  # characters that a line is made of
MAX_BACKSLASHES: Final = 8  # before a character: JSON four deep has eight
SHORTEST_SECRET: Final = 8  # characters; a shorter key ("none", "ollama") is a word like any other

#: What looks like a key, such as that of another endpoint behind this one. It looks ahead no
#: further, lest a hostile text takes time by the square of its length.
_ANY_KEY: Final = re.compile(
    r"""
      \bbearer\s+(?=\S{0,200}\d)[\w.~+/=-]{8,}
    | \b(?:sk|pk|gsk|xai|hf|key|api)[-_](?=\S{0,200}\d)[\w-]{16,}
    | \b(?:api[-_ ]?key|authorization|access[-_ ]?token|secret)\W{1,6}(?=\S{0,200}\d)[\w.~+/=-]{12,}
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class CallTarget:
    """The endpoint and model of a call, as messages name them, and the key that was sent along."""

    name: str
    model: str
    key: str = field(default="", repr=False)

    def clean_text(self, text: str) -> str:
        """The whole text, without the key and what no database stores."""
        storable = whole_characters(text).replace("\0", "\N{REPLACEMENT CHARACTER}")
        if len(self.key) < SHORTEST_SECRET:
            return storable
        return _key_pattern(self.key).sub(REMOVED_KEY, storable)

    def clean_line(self, text: str, max_characters: int = EXCERPT) -> str:
        """The text on one line, truncated, without the key and what looks like one."""
        start = self.clean_text(text)[:MAX_LINE_SOURCE]  # first cleaned, lest half a key is left
        line = " ".join(_ANY_KEY.sub(REMOVED_KEY, start).split())
        return line if len(line) <= max_characters else line[: max_characters - 1] + "…"


def whole_characters(text: str) -> str:
    """The text with half characters (lone surrogates, which JSON can escape) replaced."""
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=64)
def _key_pattern(key: str) -> re.Pattern[str]:
    """The key as it is, or with characters escaped as in JSON or in a URL.

    A key with backslashes is found as it is alone: of a row of them any number could be escapes.
    """
    if "\\" in key:
        return re.compile(re.escape(key))
    most = MAX_BACKSLASHES
    forms = (
        rf"(?:\\{{0,{most}}}{re.escape(letter)}"
        rf"|\\{{1,{most}}}u(?i:{ord(letter):04x})|%(?i:{ord(letter):02x}))"
        for letter in key
    )
    return re.compile("".join(forms))
