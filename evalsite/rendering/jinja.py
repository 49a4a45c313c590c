"""Jinja2 for what a page repeats: rows of long tables, marks of charts and widgets of forms.

Pages and their parts are Django templates. A table of fifty rows takes its engine four times as
long (docs/decisions/templates.md), so such tables and charts are `_name.jinja` files beside them.
"""

from __future__ import annotations

from typing import Any, Final

from django.forms.renderers import BaseRenderer, DjangoTemplates, Jinja2
from django.template import defaultfilters
from django.urls import reverse
from jinja2 import Environment, StrictUndefined

DJANGO_FILTERS: Final = ("date", "floatformat", "pluralize", "truncatechars", "urlencode")


def environment(**options: Any) -> Environment:
    """The environment of the `.jinja` templates, with the filters that Django templates have.

    An undefined name is an error.
    """
    from evalsite.templatetags import charts, comparison, formatting, marks, values

    options |= {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    jinja = Environment(**options)  # noqa: S701  Django turns escaping on
    for library in (charts, comparison, formatting, marks, values):
        jinja.filters |= library.register.filters
    jinja.filters |= {name: getattr(defaultfilters, name) for name in DJANGO_FILTERS}
    jinja.globals |= {
        "url": _url,
        "boost": formatting.boost,
        "time": marks.time,
        "verdict_mark": marks.verdict_mark,
        "change_mark": marks.change_mark,
        "case_cells": marks.case_cells,
        "score_cells": comparison.score_cells,
    }
    return jinja


def _url(name: str, *arguments: Any) -> str:
    return reverse(name, args=arguments)


class FormRenderer(BaseRenderer):
    """Draws Django's own widgets by their Jinja2 templates, and others, the admin's, as usual."""

    def __init__(self) -> None:
        self._own, self._other = Jinja2(), DjangoTemplates()

    def get_template(self, template_name: str) -> Any:
        is_own = template_name.startswith("django/forms/")
        return (self._own if is_own else self._other).get_template(template_name)
