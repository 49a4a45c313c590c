"""Icons are drawn once, and are what the package draws."""

from __future__ import annotations

import re

import pytest
from django.template import Context, Template
from lucide.templatetags.lucide import lucide

from tests.support.paths import ROOT


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
    drawn = Template(f"{{% load icons %}}{{% lucide {written} %}}").render(Context())
    assert drawn == lucide(**asked)
    assert drawn.startswith("<svg ")


def test_every_template_loads_the_remembered_ones() -> None:
    templates = [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    drawing = [text for text in templates if "{% lucide " in text]
    assert drawing
    assert not [text for text in templates if re.search(r"{% load [^%]*\blucide\b", text)]
