"""Which type a new scorer is to be of: all types by what they go by, or those that a text names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from scoring.core.registry import Family, ScorerType, all_types

HEADINGS: Final[dict[Family, str]] = {
    "deterministic": "By a rule",
    "embedding": "By meaning",
    "llm": "By a model's judgement",
    "combinator": "Made of other scorers",
    "custom": "Of this site's own",
}


class Group(NamedTuple):
    heading: str
    types: Sequence[ScorerType]


@dataclass(frozen=True)
class TypeChoice:
    """The types whose name has words that begin like those of `text`; else those whose summary
    has. All types where the text says nothing.
    """

    text: str = ""

    @cached_property
    def types(self) -> list[ScorerType]:
        every = list(all_types().values())
        by_name = [kind for kind in every if self._asks_for(f"{kind.name} {kind.label}")]
        return by_name or [
            kind for kind in every if self._asks_for(f"{kind.name} {kind.label} {kind.summary}")
        ]

    @property
    def groups(self) -> list[Group]:
        """Under the headings of their families, without empty ones."""
        found = (
            Group(heading, [kind for kind in self.types if kind.family == family])
            for family, heading in HEADINGS.items()
        )
        return [group for group in found if group.types]

    @property
    def first(self) -> ScorerType | None:
        """The one to go on with where a text names some, as the page shows them."""
        return self.groups[0].types[0] if self._words and self.types else None

    @cached_property
    def _words(self) -> list[str]:
        return _words_of(self.text)

    def _asks_for(self, told: str) -> bool:
        known = _words_of(told)
        return all(any(one.startswith(word) for one in known) for word in self._words)


def _words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
