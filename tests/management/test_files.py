"""Files of commands are printed, or written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.core.management.base import OutputWrapper

from scoring.management.files import print_file, write_file


def test_chunks_are_printed_as_they_are() -> None:
    out = StringIO()
    print_file(OutputWrapper(out), [b"a\n", "ü".encode()])
    assert out.getvalue() == "a\nü"


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "w46.jsonl"
    path.write_text("an older one")

    def cut() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(path, cut())
    assert [file.read_text() for file in tmp_path.iterdir()] == ["an older one"]
    write_file(path, [b"who", b"le"])
    assert path.read_bytes() == b"whole"


def test_what_is_no_file_is_an_error_of_usage(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no file"):
        write_file(tmp_path, [b""])
    with pytest.raises(CommandError, match="cannot be written"):
        write_file(tmp_path / "no" / "folder", [b""])
