"""The file around a report: its style, the policy that fits it, its name and its size."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest
from django.template import Context

from scoring.engine.reports.html_document import SizeBudget, file_name, render_document, style_sheet


def style_of(text: str) -> str:
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    return str(style)


@pytest.fixture
def written() -> str:
    return render_document("reports/base.html", {})


def test_the_policy_allows_this_style_and_nothing_else(written: str) -> None:
    digest = b64encode(sha256(style_of(written).encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', written)
    assert dict(part.split(" ", 1) for part in unescape(policy).split("; ")) == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert written.index("http-equiv") < written.index("<style>")


def test_the_style_is_the_sites_own_and_loads_nothing(written: str) -> None:
    style = style_of(written)
    assert "--paper:" in style
    assert ".report-case" in style
    assert re.findall(r"url\(|@import|@font-face|/\*|expression\(", style) == []
    assert style.count("{") == style.count("}")
    assert len(style) < 45_000


def test_the_style_holds_no_words_of_the_template_language() -> None:
    source = style_sheet().element.source
    assert re.findall(r"\{\{|\{%|\{#", source) == []
    assert style_sheet().element.render(Context()) == source


def test_every_class_of_the_reports_is_styled_or_shared(written: str) -> None:
    """So that no name was changed on one side only."""
    names = set(re.findall(r"\.(report[\w-]*)", style_of(written)))
    assert names >= {"report", "report-case", "report-texts", "report-why", "report-scores"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("Support answers", "2026-w46"), "support-answers-2026-w46.html"),
        (("Käse & Brot", "läuft"), "kase-brot-lauft.html"),
        (("../../etc/passwd", '"; x=y'), "etcpasswd-xy.html"),
        (("漢字", "\u202e\r\n"), "report.html"),
        (("a" * 300,), "a" * 100 + ".html"),
    ],
)
def test_names_suit_every_file_system_and_header(words: tuple[str, ...], name: str) -> None:
    assert file_name(*words) == name


def test_a_room_is_filled_up_to_the_first_part_that_does_not_fit() -> None:
    room = SizeBudget(10)
    assert list(room.filled(["abcd", "éé", "xyz", ""])) == ["abcd", "éé"]
    assert list(room.filled(["a"])) == []


def test_half_a_character_does_not_keep_the_file_from_being_written() -> None:
    text = render_document("reports/_finding.html", {"figures": {"sentence": "a\ud800b"}})
    assert "A?b" in text
