"""Text from outside, set so that nothing in it hides."""

from __future__ import annotations

from django import template

from evalsite.pages import case_texts

register = template.Library()

register.filter("marked", case_texts.marked)
