"""A temporary file that finds no room on the disk: told as that, not as a broken workbook."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pytest

from scoring.core.files import FileProblem, detect_format, read_rows, source
from scoring.core.files.disk_problem import reporting_disk_full
from scoring.core.files.xlsx import string_store
from tests.support.full_disk import FULL, needs_full
from tests.support.workbooks import put, row_xml, simple, texts_xml, workbook


def without_room() -> IO[bytes]:
    return FULL.open("r+b")


def read(path: Path) -> None:
    list(read_rows(path, detect_format(path)))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets texts that a workbook shares go to a temporary file at once, which finds no room."""

    def now() -> None:
        monkeypatch.setattr(string_store, "_HELD", 0)
        monkeypatch.setattr(string_store, "_FRESH", 0)
        monkeypatch.setattr(string_store, "TemporaryFile", without_room)

    return now


@needs_full
@pytest.mark.parametrize("size", [10, 200_000])
def test_texts_put_aside_that_find_no_room_say_so(
    tmp_path: Path, kept: Callable[[], None], size: int
) -> None:
    """At the write of many, or when the few that wait are asked for again."""
    texts = ["id", "input", "1", "x" * size, "y" * size]
    cells = [f'<c t="s"><v>{place}</v></c>' for place in (0, 1, 2, 3)]
    again = ['<c t="s"><v>4</v></c>', '<c t="s"><v>3</v></c>']
    rows = [row_xml(*cells[:2]), row_xml(*cells[2:]), row_xml(*again)]
    path = put(tmp_path, workbook(*rows, sharedStrings=texts_xml(*texts)))
    read(path)
    kept()
    with pytest.raises(FileProblem) as raised:
        read(path)
    assert raised.value.code == "disk_full"
    assert "There is no room left on the site's disk, so nothing was stored." in raised.value.text


@needs_full
def test_a_packed_workbook_that_finds_no_room_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cases.xlsx.gz"
    path.write_bytes(gzip.compress(simple(("id", "input"), ("1", "a"))))
    read(path)
    monkeypatch.setattr(source, "TemporaryFile", without_room)
    with pytest.raises(FileProblem) as raised:
        read(path)
    assert raised.value.code == "disk_full"


def test_any_other_fault_passes() -> None:
    with pytest.raises(OSError, match="Input"), reporting_disk_full():
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_temporary_file_with_room_is_closed_with_its_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[IO[bytes]] = []

    def noted() -> IO[bytes]:
        made.append(TemporaryFile())  # noqa: SIM115  the reader closes it
        return made[-1]

    monkeypatch.setattr(source, "TemporaryFile", noted)
    path = tmp_path / "cases.xlsx.gz"
    path.write_bytes(gzip.compress(simple(("id", "input"), ("1", "a"))))
    read(path)
    assert [file.closed for file in made] == [True, True]
