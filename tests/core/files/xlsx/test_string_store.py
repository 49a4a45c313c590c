"""Texts beyond those in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import Row, detect_format, read_rows
from scoring.core.files.xlsx import string_store
from scoring.core.files.xlsx.string_store import StringStore
from tests.support.workbooks import (
    put,
    row_xml,
    texts_xml,
    workbook,
)


def read(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows = list(read_rows(path, detect_format(path, **options)))
    assert all(isinstance(row, Row) for row in rows), rows
    return [row.fields for row in rows if isinstance(row, Row)]


def test_shared_texts_beyond_what_is_held_lie_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(string_store, "_HELD", 40)
    texts = ["input", *(f"text {n} ü" for n in range(1, 200))]
    places = [*range(200), 3, 150, 0, 199]
    rows = [row_xml('<c t="s"><v>0</v></c>')]
    rows += [row_xml(f'<c t="s"><v>{place}</v></c>') for place in places]
    path = put(tmp_path, workbook(*rows, sharedStrings=texts_xml(*texts)))
    assert [row["input"] for row in read(path)] == [texts[place] for place in places]


@given(
    st.lists(st.lists(st.text(max_size=9), max_size=5), max_size=20),
    st.randoms(use_true_random=False),
)
def test_kept_texts_come_back_in_whatever_order(batches: list[list[str]], chance: Any) -> None:
    with patch.object(string_store, "_HELD", 20), patch.object(string_store, "_FRESH", 15):
        kept, added = StringStore(), list[str]()
        for batch in batches:
            kept.add(batch)
            added += batch
            places = chance.sample(range(len(added)), len(added))
            assert len(kept) == len(added)
            assert kept.get_many(places) == [added[place] for place in places]
