"""Text from outside, set so that nothing in it hides; rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from django import template
from django.utils.safestring import SafeString

from evalsite import safe_html
from scoring.core import shown
from scoring.core.shown import Stretch, Tag

Row = TypeVar("Row")


class Leaf(Protocol):
    """What a text has at a path, None for nothing, whether that is gone or new, and what of it.

    It is shown from the character `since` on.
    """

    @property
    def text(self) -> str | None: ...

    @property
    def tag(self) -> Tag: ...

    @property
    def since(self) -> int: ...


register = template.Library()

register.filter("marked", shown.marked)
register.filter("shown", shown.shown)


@register.filter
def those(found: Mapping[str, Row] | None, names: Iterable[str]) -> list[Row]:
    """Of what was found by name, those of these names, in that order."""
    return [found[name] for name in names if name in found] if found else []


@register.simple_tag(takes_context=True)
def drawn(context: Mapping[str, Any], stretches: Iterable[Stretch]) -> SafeString:
    """The text in its stretches; white space is marked where the page says so."""
    return safe_html.drawn(stretches, with_spaces=bool(context.get("marks_space")))


@register.simple_tag(takes_context=True)
def drawn_leaf(context: Mapping[str, Any], leaf: Leaf) -> SafeString:
    """A leaf of a JSON value as a cell of a table holds it."""
    is_marked = bool(context.get("marks_space"))
    return safe_html.leaf(leaf.text, leaf.tag, with_spaces=is_marked, since=leaf.since)


@register.simple_tag(takes_context=True)
def drawn_text(context: Mapping[str, Any], text: str) -> SafeString:
    """A text in one stretch, whatever its length."""
    return drawn(context, [Stretch("", shown.marked(text))])
