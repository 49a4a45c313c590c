"""Shared texts past the parser, and only where it is between two items."""

from __future__ import annotations

import io
from unittest.mock import patch

import pytest

from scoring.core.files.xlsx import workbook
from scoring.core.files.xlsx.shared_strings import SharedStrings
from tests.support.workbooks import row_xml
from tests.support.workbooks import workbook as workbook_of


def texts_of(xml: str, chunk: int) -> SharedStrings:
    content = workbook_of(row_xml("a"), sharedStrings=xml)
    with patch.object(workbook, "_CHUNK", chunk):
        texts = SharedStrings(workbook.Workbook(io.BytesIO(content)))
        with pytest.raises(IndexError):
            texts.get_many([10_000])
    return texts


PLAIN = "".join(f"<si><t>{number}</t></si>" for number in range(50))


@pytest.mark.parametrize("chunk", [20, 64, 10_000])
@pytest.mark.parametrize(
    ("xml", "texts"),
    [
        (f"<sst>{PLAIN}</sst>", [str(number) for number in range(50)]),
        (f"<sst><si><rPh>{PLAIN}</rPh></si></sst>", [""] * 51),
        (f"<rPh>{PLAIN}</rPh>", [""] * 50),  # all of it is a reading
    ],
)
def test_items_are_taken_at_once_only_outside_of_readings(
    xml: str, texts: list[str], chunk: int
) -> None:
    assert texts_of(xml, chunk).get_many(range(len(texts))) == texts


@pytest.mark.parametrize("index", [-1, 50, 51])
def test_a_text_that_is_not_there_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError):
        texts_of(f"<sst>{PLAIN}</sst>", 64)[index]
