"""Guesses of a CSV file's delimiter and quotes."""

from __future__ import annotations

import pytest

from scoring.core.files.csv.dialect import guess_dialect
from scoring.core.files.csv.records import Dialect


@pytest.mark.parametrize(
    ("text", "delimiter", "quote"),
    [
        ("a,b\n1,2\n", ",", '"'),
        ("a;b;c\n1;2,5;3\n", ";", '"'),
        ("a\tb\nx, y, z\t2\n", "\t", '"'),
        ("a|b\n1|2\n", "|", '"'),
        ("text\nno delimiter at all\n", ",", '"'),
        ("text\none, two\nthree\n", ",", '"'),
        ('a,b\n"x;y;z","1;2;3"\n', ",", '"'),
        ("'a','b'\n'x,y',2\n", ",", "'"),
        ('a,b\n1,"open\n2,3\n', ",", '"'),
        ("a,b\nit's,fine\n", ",", '"'),
        ("A title\na;b\n1;2\n3;4\n", ";", '"'),
        ("a,b,c\n1,2\n3,4,5\n6,7,8\n", ",", '"'),
        ("", ",", '"'),
        # half of the records alike are enough, two fifths are not
        ("a;b|c|d\n" * 4 + "a;b\na\na\na|b\n" + "a;b;c|d\n" * 2, ";", '"'),
    ],
)
def test_delimiter_and_quote_are_guessed(text: str, delimiter: str, quote: str) -> None:
    assert guess_dialect(text.splitlines(keepends=True)) == Dialect(delimiter, quote)


def test_a_wanted_delimiter_is_not_guessed() -> None:
    lines = ["a,b\n", "1,2\n"]
    assert guess_dialect(lines, Dialect(";", "")) == Dialect(";", '"')
    assert guess_dialect(lines, Dialect("", "'")) == Dialect(",", "'")


def test_the_name_decides_between_a_tab_and_a_comma() -> None:
    lines = ["a,b\tc\n", "1,2\t3\n"]
    assert guess_dialect(lines).delimiter == ","
    assert guess_dialect(lines, is_tsv=True).delimiter == "\t"


def test_lines_cut_off_at_the_end_do_not_spoil_the_guess() -> None:
    lines = ["a;b\n", "1;2\n", '3;"cut']
    assert guess_dialect(lines, is_whole=False).delimiter == ";"


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("id, input\n1, a\n2, b\n", ", "),
        ('id, input\n1, "a,b"\n2, c\n', ", "),
        ("id | input\n1 | a\n2 | b\n", " | "),
        ("id; input\n1; a\n", "; "),
        # the space may be text where one delimiter stands without
        ("id,input\n1, a\n2, b\n", ","),
        ("id, input\n1, a\n2,b\n", ","),
        ("id, input\n1, a\n2, \n,b\n", ","),
        ("id, input\n1, Rome, Italy\n2, b\n", ","),
        ("a\tb\nx, y\t1\n", "\t"),
    ],
)
def test_spaces_belong_to_the_delimiter_only_where_they_always_stand(
    text: str, delimiter: str
) -> None:
    assert guess_dialect(text.splitlines(keepends=True)).delimiter == delimiter
