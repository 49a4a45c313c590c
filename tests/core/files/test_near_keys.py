"""Keys that no case has, and the cases that were probably meant."""

from __future__ import annotations

import pytest

from scoring.core.files.near_keys import find_near_keys


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("1", "001"),
        ("001", "1"),
        ("1.0", "1"),
        ("1.00", "001"),
        ("q-7", "q-007"),
        ("a/0/3", "a/0/03"),
        ("Q3", "q3"),
        ("STRASSE", "straße"),
        ("cafe\u0301", "café"),
        ("\uff51\uff11", "q1"),
        (" q1 ", "q1"),
    ],
)
def test_what_spreadsheets_lose_is_found(unknown: str, known: str) -> None:
    assert find_near_keys([unknown], ["other", known]) == {unknown: known}


@pytest.mark.parametrize(
    ("unknown", "known"), [("1", "10"), ("1.05", "1.5"), ("0", "00x"), ("q1", "q11"), ("", "0")]
)
def test_other_keys_are_not_near(unknown: str, known: str) -> None:
    assert find_near_keys([unknown], [known]) == {}


def test_of_several_the_first_is_named_in_the_order_of_the_unknown() -> None:
    known = ["Q1", "01", "q1", "1"]
    assert find_near_keys(["001", "none", "Q01"], known) == {"001": "01", "Q01": "Q1"}
