"""The choice of a new scorer's type: all types by family, or those that match a search."""

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


class TypeGroup(NamedTuple):
    heading: str
    types: Sequence[ScorerType]


@dataclass(frozen=True)
class TypePicker:
    """The types that match `text`: each of its words begins a word of the type's name or label.

    If none does, those that match with their summary included; all types without a text.
    """

    text: str = ""

    @cached_property
    def types(self) -> list[ScorerType]:
        names = [(kind, f"{kind.name} {kind.label}") for kind in all_types().values()]
        by_name = [kind for kind, name in names if self._matches(name)]
        return by_name or [kind for kind, name in names if self._matches(f"{name} {kind.summary}")]

    @property
    def groups(self) -> list[TypeGroup]:
        """Under the headings of their families, without empty ones."""
        groups = (
            TypeGroup(heading, [kind for kind in self.types if kind.family == family])
            for family, heading in HEADINGS.items()
        )
        return [group for group in groups if group.types]

    @property
    def first(self) -> ScorerType | None:
        """The first match as the page shows them; None without a text or a match."""
        return self.groups[0].types[0] if self._words and self.types else None

    @cached_property
    def _words(self) -> list[str]:
        return _split_words(self.text)

    def _matches(self, description: str) -> bool:
        described = _split_words(description)
        return all(any(known.startswith(word) for known in described) for word in self._words)


def _split_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
