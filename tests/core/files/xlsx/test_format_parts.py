"""A number format in pieces."""

from __future__ import annotations

import pytest

from scoring.core.files.xlsx.format_parts import BUILT_IN, format_sections


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("0.0%", [("digit", "0"), ("point", "."), ("digit", "0"), ("percent", "%")]),
        ("#,0", [("digit", "#"), ("comma", ","), ("digit", "0")]),
        ('"a;b"0', [("literal", "a;b"), ("digit", "0")]),
        ("\\x_)* 0", [("literal", "x"), ("literal", " "), ("literal", ""), ("digit", "0")]),
        ("[Red][$€-407]0", [("literal", "€"), ("digit", "0")]),
        ("[$-409]d", [("literal", ""), ("day", "d")]),
        ("[>5]0", [("unknown", "[>5]"), ("digit", "0")]),
        ("YYYY-MM", [("day", "yyyy"), ("literal", "-"), ("day", "mm")]),
        ("[HH] AM/PM", [("day", "[hh]"), ("literal", " "), ("day", "am/pm")]),
        ("General", [("unknown", "General")]),
        ("@", [("unknown", "@")]),
        ('"', [("literal", '"')]),
        ("", []),
    ],
)
def test_a_section_is_taken_apart(code: str, parts: list[tuple[str, str]]) -> None:
    assert format_sections(code) == [parts]


def test_sections_are_divided_by_semicolons() -> None:
    assert [len(parts) for parts in format_sections("0;(0);;@")] == [1, 3, 0, 1]


def test_no_built_in_format_is_unknown() -> None:
    kinds = {part.kind for code in BUILT_IN.values() for part in format_sections(code)[0]}
    assert "unknown" not in kinds
