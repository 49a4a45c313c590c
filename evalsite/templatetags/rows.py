"""`{% rows %}` sets a table whose rows a `.jinja` template draws."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import engines
from django.utils.safestring import SafeString

from evalsite.rendering.safe_html import join_safe

register = template.Library()


@register.simple_tag
def rows(name: str, **context: Any) -> SafeString:
    """The table, which knows only what it is given here."""
    return join_safe([engines["rows"].get_template(name).render(context)])
