"""Tables and widgets drawn by Jinja2 escape what they show, and know only what they are given."""

from __future__ import annotations

import pytest
from django import forms
from django.contrib.admin.widgets import AdminSplitDateTime
from django.forms.renderers import DjangoTemplates
from django.template import engines
from django.test.html import parse_html
from jinja2 import UndefinedError

from evalsite.rendering.jinja import FormRenderer

HOSTILE = "<script>alert('x')</script>\" onclick=\"x"
CHOICES = [("a", "A"), (HOSTILE, HOSTILE)]


def drawn(source: str, **context: object) -> str:
    made = engines["rows"].from_string(source)
    return str(made.render(context))


def test_every_text_is_escaped() -> None:
    html = drawn(
        '<a title="{{ text }}">{{ text }}</a>{{ text|spell_out }}{{ text|visible }}', text=HOSTILE
    )
    assert "<script" not in html
    assert '" onclick' not in html


def test_a_name_that_was_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        drawn("{{ missing }}")


@pytest.mark.parametrize(
    "field",
    [
        forms.CharField(initial=HOSTILE, widget=forms.TextInput(attrs={"title": HOSTILE})),
        forms.CharField(initial=HOSTILE, widget=forms.Textarea),
        forms.ChoiceField(choices=CHOICES, initial=HOSTILE),
        forms.ChoiceField(choices=CHOICES, widget=forms.RadioSelect),
        forms.MultipleChoiceField(choices=CHOICES, widget=forms.CheckboxSelectMultiple),
        forms.FloatField(initial=0.5, min_value=0),
        forms.BooleanField(initial=True),
        forms.FileField(),
        forms.SplitDateTimeField(widget=AdminSplitDateTime),
    ],
    ids=lambda field: f"{type(field).__name__} {type(field.widget).__name__}",
)
def test_a_widget_is_what_django_draws(field: forms.Field) -> None:
    made = type("AForm", (forms.Form,), {"field": field})
    ours, djangos = (
        str(made(renderer=each())["field"]) for each in (FormRenderer, DjangoTemplates)
    )
    assert parse_html(ours) == parse_html(djangos)
