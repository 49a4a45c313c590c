from __future__ import annotations

import pytest

from scoring.core.names import as_one_line, is_one_line

NAMES = ["Answers", "Ответы · 回答", "a  b", "«x» - 1/2", "caf\u0065\u0301", "👩\u200d🔬", "הסבר"]
UNFIT = "\n\r\t\0\x1b\x7f\x85\u2028\u2029\u061c\u200e\u200f\u202a\u202e\u2066\u2069\ud800"


@pytest.mark.parametrize("name", NAMES)
def test_names_of_all_languages_are_names(name: str) -> None:
    assert is_one_line(name)


@pytest.mark.parametrize("character", UNFIT, ids=lambda text: f"U+{ord(text):04X}")
def test_what_breaks_or_turns_a_line_is_in_no_name(character: str) -> None:
    assert not is_one_line(f"a{character}b")
    assert as_one_line(f" a{character} b ") == "a b"
