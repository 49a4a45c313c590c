"""The folded settings of a tree of scorers, which are alike in all parts of a type."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string

from evalsite.pages.scorers.config_fields import CONFIG
from evalsite.pages.scorers.tree_forms import Node, Tree

register = template.Library()


class FoldedSettings(template.Node):
    """The fields of `node` that hold their defaults, rendered once for all parts of `tree` that
    have the same: with fifty parts that took most of a page's time. Only their names differ.
    """

    def render(self, context: template.Context) -> str:
        node: Node = context["node"]
        tree: Tree = context["tree"]
        alike = (node.kind.name, *((field.name, str(field.value())) for field in node.folded))
        if alike not in tree.rendered:
            rendered: str = render_to_string("scorers/_default_settings.html", {"node": node})
            tree.rendered[alike] = _names(node), rendered
        names, html = tree.rendered[alike]
        return html.replace(names, _names(node))


@register.tag
def folded_settings(_parser: Any, _token: Any) -> FoldedSettings:
    return FoldedSettings()


def _names(node: Node) -> str:
    return f"n{node.token}-{CONFIG}"
