"""Notes: one for each kind, counted, in words for one and for several."""

from __future__ import annotations

from scoring.core.files.notes import EMPTY_COLUMN, QUOTE_IN_CELL, Note, Notes


def test_notes_of_a_kind_are_counted_from_their_first_place() -> None:
    notes = Notes()
    for code, position in ((QUOTE_IN_CELL, 7), (EMPTY_COLUMN, 3), (QUOTE_IN_CELL, 1_200)):
        notes.add(code, position)
    assert notes.listed == (Note(QUOTE_IN_CELL, 2, 7), Note(EMPTY_COLUMN, 1, 3))
    assert [note.message for note in notes.listed] == [
        "2 rows have a quote inside a cell that is not quoted; it is kept as text. "
        "The first is line 7.",
        "Column 3 has no name and no values: left out.",
    ]
