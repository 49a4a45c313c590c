"""Archives that are no workbook, or not a safe one."""

from __future__ import annotations

import io
from pathlib import Path
from unittest.mock import patch

import pytest

from scoring.core.files import FileProblem, decompression, detect_format, read_rows
from scoring.core.files.xlsx import workbook as workbook_module
from tests.support.workbooks import (
    UNUSABLE,
    put,
    row_xml,
    simple,
    workbook,
)


@pytest.mark.parametrize(("name", "content", "code"), UNUSABLE, ids=[u[0] for u in UNUSABLE])
def test_an_unusable_workbook_is_refused_with_its_code(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    path = put(tmp_path, content, name)
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect_format(path)))
    assert raised.value.code == code
    assert raised.value.text.endswith(".")


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    import zipfile

    stream = io.BytesIO(simple(("a",), ("1",)))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as book:
        book.writestr("xl/workbook.xml", "<a/>")
    with pytest.raises(FileProblem) as raised:
        detect_format(put(tmp_path, stream.getvalue()))
    assert raised.value.code == "unsafe_archive"


def test_a_workbook_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompression, "MAX_UNPACKED", 1024**2)
    rows = row_xml("a") + f"<row><c><v>{' ' * 2 * 1024**2}</v></c></row>"
    path = put(tmp_path, workbook(rows))
    assert path.stat().st_size < 10_000
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect_format(path)))
    assert raised.value.code == "too_large_unpacked"


@pytest.mark.parametrize("limit", ["MAX_PARTS", "MAX_DIRECTORY"])
def test_a_directory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(workbook_module, limit, 2)
    path = put(tmp_path, simple(("a",), ("1",)))
    with patch.object(workbook_module, "ZipFile") as opened, pytest.raises(FileProblem) as raised:
        detect_format(path)
    assert raised.value.code == "unsafe_archive"
    assert not opened.called
