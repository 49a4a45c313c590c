"""What breaks the CSP or a tag stands in no template, and docs/look.md names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FORBIDDEN = {
    "a style attribute": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an event handler": r"<[^>]*\son[a-z]+\s*=",
    "a script in the page": r"<script\b(?![^>]*\ssrc=)",
    "code for htmx to evaluate": r"hx-on\b|hx-vals=.js:|hx-headers=.js:",
    "something from another host": r"(?:src|href)=\"(?:https?:)?//",
    "marks of what is invisible inside an attribute": r"=\"[^\"<>]*\|visible\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_holds(template: Path, what: str) -> None:
    assert re.findall(FORBIDDEN[what], template.read_text(), re.IGNORECASE) == []


def styled() -> set[str]:
    """Every class some stylesheet knows."""
    sheets = "".join(sheet.read_text() for sheet in (ROOT / "static" / "css").glob("*.css"))
    return set(re.findall(r"\.(-?[a-z][\w-]*)", re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL)))


def test_every_class_in_the_guide_exists() -> None:
    guide = (ROOT / "docs" / "look.md").read_text()
    named = {name for group in re.findall(r'class="([\w -]+)"', guide) for name in group.split()}
    assert named - styled() == set()


def test_every_include_in_the_guide_exists() -> None:
    guide = (ROOT / "docs" / "look.md").read_text()
    named = set(re.findall(r"`(_\w+\.html)`", guide))
    assert named
    assert {name for name in named if not (ROOT / "templates" / name).exists()} == set()
