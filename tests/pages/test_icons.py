"""Icons are drawn once, and are what the package draws."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from lucide.templatetags.lucide import lucide

from evalsite.templatetags.icons import register


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ('"search" size=16', {"name": "search", "size": 16}),
        (
            '"search" size=16 class="icon" aria_hidden="true"',
            {"name": "search", "size": 16, "class": "icon", "aria_hidden": "true"},
        ),
    ],
)
def test_an_icon_is_what_the_package_draws(written: str, asked: dict[str, object]) -> None:
    drawn = Template(f"{{% load lucide %}}{{% lucide {written} %}}").render(Context())
    assert drawn == lucide(**asked)
    assert drawn.startswith("<svg ")


def test_templates_load_the_remembered_ones() -> None:
    assert Template("{% load lucide %}").engine.template_libraries["lucide"] is register
