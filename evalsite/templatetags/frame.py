"""`{% team_nav %}` for the bar, which shows it twice: each one is drawn once for all requests."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def team_nav(context: Context) -> SafeString:
    """The links to the pages of the page's team, with the section that the page belongs to."""
    found = context["request"].resolver_match
    is_home = found is not None and found.url_name == "team_home"
    return _draw_nav(context["team"].slug, context["bar_part"], is_home)


@lru_cache(maxsize=256)
def _draw_nav(slug: str, section: str, is_home: bool) -> SafeString:
    return render_to_string(
        "web/_bar_nav.html", {"slug": slug, "section": section, "is_home": is_home}
    )
