"""Display options of a case's texts; the address keeps each choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from django.http import QueryDict

from evalsite.pages.compare.links import change_query

SIDE: Final = "side"
INLINE: Final = "inline"


class OptionKind(NamedTuple):
    """An option with the labels of its values, the default first; its key selects the next one."""

    title: str
    key: str
    labels: Mapping[str, str]


#: By the parameter of the address that holds the value.
_KINDS: Final[Mapping[str, OptionKind]] = {
    "layout": OptionKind("Layout", "l", {SIDE: "side by side", INLINE: "inline"}),
    "space": OptionKind("White space", "w", {"off": "spaces plain", "on": "spaces marked"}),
}

#: The parameters that say how the texts are shown, whichever texts they are.
REMEMBERED: Final = ("space", "layout", "view")


class OptionChoice(NamedTuple):
    label: str
    url: str
    is_chosen: bool


class DisplayOption(NamedTuple):
    title: str
    key: str
    choices: list[OptionChoice]


def chosen_value(query: QueryDict, name: str) -> str:
    """The value in the address, else the default."""
    labels, value = _KINDS[name].labels, query.get(name, "")
    return value if value in labels else next(iter(labels))


def display_options(query: QueryDict) -> list[DisplayOption]:
    """All options; each choice links to the current page with its own value changed."""
    return [
        DisplayOption(kind.title, kind.key, list(_choices(query, name, kind.labels)))
        for name, kind in _KINDS.items()
    ]


def _choices(query: QueryDict, name: str, labels: Mapping[str, str]) -> Iterator[OptionChoice]:
    """A choice of each value; the address leaves out the default."""
    default, chosen = next(iter(labels)), chosen_value(query, name)
    for value, label in labels.items():
        url = change_query(query, **{name: None if value == default else value})
        yield OptionChoice(label, url, value == chosen)
