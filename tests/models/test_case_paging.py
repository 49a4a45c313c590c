"""The beginning of a text, however it was cut."""

from __future__ import annotations

import json

import pytest

from scoring.models.case_paging import opening_text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('"whole"', "whole"),
        ('"cut off', "cut off"),
        ('"cut in an escape \\', "cut in an escape "),
        ('"cut in a letter \\u00e', "cut in a letter "),
        ('"half a pair \\ud83d', "half a pair "),
        ('"half a pair \\ud83d\\ude', "half a pair "),
        ('"a \\"quoted\\" word and \\\\', 'a "quoted" word and \\'),
        ('"line\\nend', "line\nend"),
        ('{"a": "b', '{"a": "b'),
        ("4.0", "4.0"),
        ("", ""),
    ],
)
def test_an_opening_reads_as_text_however_it_was_cut(written: str, shown: str) -> None:
    assert opening_text(written) == shown


def test_an_opening_never_loses_more_than_the_cut_escape() -> None:
    text = 'é"\n\\ 😀 plain' * 5
    for written in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        for length in range(1, len(written) + 1):
            assert text.startswith(opening_text(written[:length]))
