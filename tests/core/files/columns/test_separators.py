"""Which sign divides the items in cells, and that prose is not divided."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from scoring.core.files.columns.separators import TIGHT_COMMA, guess_separator, split_text
from tests.support.real_data import truthfulqa_path

REFERENCES, TAGS = ";|\n", ",;|"
PROSE = [
    "Hold the button for ten seconds; do not let go early.",
    "Under Billing.",
    "Only admins.",
]


@pytest.mark.parametrize(
    ("texts", "separator"),
    [
        (["a; b", "c"], ";"),
        (["New York; NYC; The Big Apple", "Paris"], ";"),
        (["The moon is made of rock; It has no light of its own"], ";"),
        (["Es ist Mittag; Äpfel sind reif"], ";"),
        (["1789; 14 July 1789"], ";"),
        (["a\nb", "c\nd"], "\n"),
        (["a|b", "c|d", "e;f"], "|"),
        (["a;b"] + ["c"] * 9, ";"),
        (["a;b"] + ["c"] * 10, ""),
        (["a; b", "c; d", "Wait for it; then press the left button twice"], ";"),
        (["a; b", "Wait for it; then press the left button twice"], ""),
        (PROSE, ""),
        (["Hold the button\nuntil it blinks", "Only admins may."], ""),
        (["Hold it; wait", "Under it"], ""),
        (["one two three four; five six seven eight"], ""),
        (["a", "b"], ""),
        ([], ""),
    ],
)
def test_references_are_divided_where_they_are_lists(texts: list[str], separator: str) -> None:
    assert guess_separator(texts, REFERENCES) == separator


@pytest.mark.parametrize(
    ("texts", "separator"),
    [
        (["geo, easy", "geo, hard", "art"], ","),
        (["geo,easy", "geo,hard", "art"], ","),
        (["geo,easy", "Paris, France", "art", "Paris, France,art"], TIGHT_COMMA),
        (["geo", "Paris, France", "art"], ""),
        (["Law, Health"], ","),
        (["a;b, c", "d;e"], ";"),
        (["geo", "art"], ""),
    ],
)
def test_a_tag_with_a_comma_and_a_space_stays_one_where_few_have_it(
    texts: list[str], separator: str
) -> None:
    assert guess_separator(texts, TAGS) == separator


@pytest.mark.parametrize(
    ("text", "separator", "items"),
    [
        (" a ;; b;", ";", ["a", "b"]),
        ("geo,Paris, France,art", TIGHT_COMMA, ["geo", "Paris, France", "art"]),
        ("geo,Paris, France,art", ",", ["geo", "Paris", "France", "art"]),
        ("", ";", []),
    ],
)
def test_items_have_no_white_space_around_them(text: str, separator: str, items: list[str]) -> None:
    assert split_text(text, separator) == items


def test_the_right_answers_of_truthfulqa_are_lists(facts: Path) -> None:
    with truthfulqa_path(facts).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for column in ("Correct Answers", "Incorrect Answers"):
        assert guess_separator([row[column] for row in rows][:200], REFERENCES) == ";"
