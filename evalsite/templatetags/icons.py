"""`{% lucide %}` for every template, with each icon drawn once: a page sets a dozen of them."""

from __future__ import annotations

from functools import lru_cache

from django import template
from lucide.templatetags.lucide import lucide

register = template.Library()
register.simple_tag(lru_cache(maxsize=256)(lucide), name="lucide")
