"""A search compares folded texts; a copy is made only where the database would not do."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.search_text import fold_text, search_copy
from tests.support.speed import quick_enough

BACKSLASH = "\\"
ALIKE = [
    ("Überlingen", "ÜBERLINGEN"),
    ("caf\u00e9", "cafe\u0301"),
    ("CAFE\u0301", "caf\u00e9"),
    ("Straße", "STRASSE"),
    ("ΟΔΟΣ", "οδος"),
    ("ﬁne", "FINE"),
    ("K\u00e9", "\u212a\u00e9"),  # the sign of Kelvin
    (r"M\u00fcnchen", "münchen"),
    (r"M\u00DCNCHEN", "München"),
    (r"M\\u00fcnchen", "München"),  # JSON within JSON
    (r"\ud83d\ude00", "😀"),
    (r"\uD83D\uDE00", "😀"),
    (r"a\u0026b", "A&B"),
    (r"e\u0301", "é"),
]
KEPT = [
    r"\u0000",
    r"\u000A",
    r"\u0022",
    r"\u005c",
    r"\ud83d",
    r"\ude00 x",
    r"\u12",
    "\\u",
    "C:\\users",
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_case_form_and_escapes_make_no_difference(one: str, other: str) -> None:
    assert fold_text(one) == fold_text(other)


@pytest.mark.parametrize("text", KEPT)
def test_escapes_of_controls_and_of_syntax_stay(text: str) -> None:
    assert fold_text(text) == text.lower()
    assert search_copy(text) is None


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("", None),
        ("Plain ASCII", None),
        ("überlingen", None),
        ("Am Bodensee, überlingen", None),
        ("日本語", None),
        ("Überlingen", "überlingen"),
        ("straße", "strasse"),
        ("cafe\u0301", "caf\u00e9"),
        (r"{\"city\": \"M\u00fcnchen\"}", r"{\"city\": \"münchen\"}"),
    ],
)
def test_a_copy_is_kept_only_where_it_differs(text: str, copy: str | None) -> None:
    assert search_copy(text) == copy


@given(st.text() | st.text("aAäÄßΣς\u0301\\u00fcdD83e "))
def test_folding_again_changes_nothing_and_forms_fold_alike(text: str) -> None:
    folded = fold_text(text)
    assert fold_text(normalize("NFC", text)) == folded
    assert fold_text(text.swapcase().swapcase()).casefold() == fold_text(folded).casefold()
    without_copy = text.encode(errors="replace").lower().decode()
    assert (search_copy(text) or without_copy) == folded.encode(errors="replace").decode()


@pytest.mark.parametrize("text", ["\\", "\\u", "\\u00f", "\\ud83d", "é\\", "e\u0301"])
def test_a_megabyte_of_the_same_is_folded_at_once(text: str) -> None:
    with quick_enough(5.0):
        search_copy(text * (1_000_000 // len(text)))
