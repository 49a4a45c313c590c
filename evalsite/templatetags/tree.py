"""The folded settings of a tree of scorers, which are alike in all parts of a type."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from evalsite.pages.forms.config_fields import CONFIG
from evalsite.pages.forms.scorer_tree import Node

register = template.Library()


@register.simple_tag(takes_context=True)
def folded_settings(context: Any, node: Node) -> SafeString:
    """Fields at their defaults, drawn once for all parts that have the same: with fifty parts
    most of a page's time went there. Only the names that they are sent with differ.
    """
    drawn: dict[Any, tuple[str, str]] = context["tree"].drawn
    alike = (node.kind.name, *((field.name, str(field.value())) for field in node.folded))
    if alike not in drawn:
        drawn[alike] = _names(node), render_to_string("scorer/_folded.html", {"node": node})
    names, html = drawn[alike]
    return mark_safe(html.replace(names, _names(node)))  # noqa: S308  drawn by a template


def _names(node: Node) -> str:
    return f"n{node.token}-{CONFIG}"
