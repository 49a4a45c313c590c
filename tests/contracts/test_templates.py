"""What breaks the CSP or a tag stands in no template, and docs/look.md names what exists."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

TEMPLATES = sorted(
    path for path in (ROOT / "templates").rglob("*") if path.suffix in {".html", ".jinja"}
)
LONGEST_LINE = 140
FORBIDDEN = {
    "a style attribute": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an event handler": r"<[^>]*\son[a-z]+\s*=",
    "a script in the page": r"<script\b(?![^>]*\ssrc=)",
    "code for htmx to evaluate": r"hx-on\b|hx-vals=.js:|hx-headers=.js:",
    "something from another host": r"(?:src|href)=\"(?:https?:)?//",
    "a text that is not escaped": r"\|\s*safe\b|\bautoescape\b",
    "a comment over two lines, which Django shows": r"(?m)\{#(?:(?!#\}).)*$",
    "marks of what is invisible inside an attribute": r"=\"[^\"<>]*\|visible\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(what: str) -> None:
    forbidden = re.compile(FORBIDDEN[what], re.IGNORECASE)
    assert TEMPLATES
    assert [path for path in TEMPLATES if forbidden.search(path.read_text())] == []


def test_no_line_of_a_template_is_too_long() -> None:
    lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert lines == []


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
    named = set(re.findall(r"`((?:\w+/)*_\w+\.html)`", guide))
    assert named
    assert {name for name in named if not (ROOT / "templates" / name).exists()} == set()
