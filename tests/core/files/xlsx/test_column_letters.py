"""The letters of columns."""

from __future__ import annotations

import pytest

from scoring.core.files import FileProblem
from scoring.core.files.xlsx.column_letters import column_index, column_letters


@pytest.mark.parametrize(
    ("index", "letters"),
    [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")],
)
def test_columns_have_the_letters_of_a_spreadsheet(index: int, letters: str) -> None:
    assert column_letters(index) == letters
    assert column_index(letters) == column_index(letters.lower()) == index


@pytest.mark.parametrize("letters", ["", "XFE", "AAAA", "Ä", "A1"])
def test_a_column_that_no_sheet_has_is_refused(letters: str) -> None:
    with pytest.raises(FileProblem) as raised:
        column_index(letters)
    assert raised.value.code == "corrupt_archive"
