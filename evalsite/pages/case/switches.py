"""The switches over a case's texts: each choice is a part of the address, and stays with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from django.http import QueryDict

SIDE: Final = "side"
INLINE: Final = "inline"
#: By the name of the part of the address, the values it may have; the first one is usual.
_CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    "layout": {SIDE: "side by side", INLINE: "inline"},
    "space": {"off": "spaces plain", "on": "spaces marked"},
}
_TITLES: Final = {"layout": ("Layout", "l"), "space": ("White space", "w")}

#: What of an address says how the texts are shown, whichever texts they are.
KEPT: Final = ("space", "layout", "view")


class Choice(NamedTuple):
    label: str
    url: str
    is_chosen: bool


class Switch(NamedTuple):
    """Choices of which one holds; the key goes on to the next one."""

    title: str
    key: str
    choices: list[Choice]


def chosen(query: QueryDict, name: str) -> str:
    """What the address asks for, else what is usual."""
    asked = query.get(name, "")
    return asked if asked in _CHOICES[name] else next(iter(_CHOICES[name]))


def switches(query: QueryDict) -> list[Switch]:
    """Each leads to the page as it is now but for its own choice."""
    return [switch(query, name, *_TITLES[name], labels) for name, labels in _CHOICES.items()]


def switch(query: QueryDict, name: str, title: str, key: str, labels: Mapping[str, str]) -> Switch:
    """The first of the labelled values is usual, and left out of the address."""
    usual = next(iter(labels))
    asked = query.get(name, "")
    held = asked if asked in labels else usual
    choices = [
        Choice(label, _url(query, name, "" if value == usual else value), value == held)
        for value, label in labels.items()
    ]
    return Switch(title, key, choices)


def _url(query: QueryDict, name: str, value: str) -> str:
    changed = query.copy()
    changed.pop(name, None)
    if value:
        changed[name] = value
    return f"?{changed.urlencode()}"
