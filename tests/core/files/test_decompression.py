"""Packed files, tables without a header, quotes that are text: read like any other."""

from __future__ import annotations

import gzip
import io
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Row, Source, decompression, detect_format, read_rows
from tests.support.workbooks import put, simple

zipped = partial(gzip.compress, mtime=0)  # the same bytes, and test names, at any time

ROWS = [{"id": "1", "input": "Größe"}, {"id": "2", "input": "x"}]
PACKABLE = {
    "cases.csv.gz": "id,input\n1,Größe\n2,x\n".encode(),
    "cases.tsv.gz": "id\tinput\n1\tGröße\n2\tx\n".encode("utf-16"),
    "cases.json.gz": '[{"id": "1", "input": "Größe"}, {"id": "2", "input": "x"}]'.encode(),
    "cases.jsonl.gz": '{"id": "1", "input": "Größe"}\n{"id": "2", "input": "x"}'.encode(),
    "CASES.XLSX.GZ": simple(("id", "input"), ("1", "Größe"), ("2", "x")),
}


def fields(path: Path, **options: Any) -> list[dict[str, Any]]:
    return [
        row.fields
        for row in read_rows(path, detect_format(path, **options))
        if isinstance(row, Row)
    ]


@pytest.mark.parametrize("name", PACKABLE)
def test_every_format_may_be_packed(tmp_path: Path, name: str) -> None:
    assert fields(put(tmp_path, zipped(PACKABLE[name]), name)) == ROWS


def test_a_packed_file_may_come_through_a_pipe() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    for name, content in PACKABLE.items():
        source = Source(Pipe(zipped(content)), name)
        assert [row.fields for row in read_rows(source, detect_format(source))] == ROWS  # type: ignore[union-attr]


def test_several_members_are_one_file_and_zeros_behind_them_are_none(tmp_path: Path) -> None:
    content = PACKABLE["cases.csv.gz"]
    packed = zipped(content[:11]) + zipped(b"") + zipped(content[11:])
    assert fields(put(tmp_path, packed + b"\0" * 100, "cases.csv.gz")) == ROWS


def test_an_allowance_may_be_spent_to_the_last_byte() -> None:
    allowance = decompression.Allowance()
    allowance.spend(decompression.MAX_UNPACKED)
    with pytest.raises(FileProblem) as raised:
        allowance.spend(1)
    assert raised.value.code == "too_large_unpacked"


@given(st.binary(max_size=3_000), st.integers(1, 500))
def test_what_is_packed_comes_out_whatever_is_read_at_a_time(content: bytes, size: int) -> None:
    packed = decompression.Gunzip(io.BytesIO(zipped(content)), "x.gz")
    chunks = []
    while chunk := packed.read(size):
        assert len(chunk) <= size
        chunks.append(chunk)
    assert b"".join(chunks) == content


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("cases.csv.gz", b"", "empty_file"),
        ("cases.csv.gz", zipped(b""), "empty_file"),
        ("cases.csv.gz", b"id,input\n1,a\n", "type_mismatch"),
        ("cases.csv", zipped(b"id,input\n1,a\n"), "type_mismatch"),
        ("cases.csv.gz.gz", zipped(zipped(b"a")), "type_mismatch"),
        ("cases.csv.gz", zipped(b"\x89PNG\r\n\x1a\n"), "type_mismatch"),
        ("cases.csv.gz", zipped(b"id,input\n1,a\n")[:-4], "corrupt_archive"),
        ("cases.csv.gz", zipped(b"id,input\n1,a\n") + b"more", "corrupt_archive"),
        ("cases.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40, "corrupt_archive"),
        ("cases.csv.gz", b"\x1f", "corrupt_archive"),
        ("cases.xlsx.gz", zipped(b"no workbook"), "type_mismatch"),
        ("cases.csv.gz", zipped(b"id,input\n" + b"1,a\n" * 300_000), "too_large_unpacked"),
        ("cases.json.gz", zipped(b"[" + b" " * 2 * 1024**2), "too_large_unpacked"),
    ],
)
def test_a_bad_archive_is_told_by_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, code: str
) -> None:
    monkeypatch.setattr(decompression, "MAX_UNPACKED", 1024**2)
    with pytest.raises(FileProblem) as raised:
        fields(put(tmp_path, content, name))
    assert raised.value.code == code
    assert raised.value.text.endswith(".")


def test_damage_far_inside_is_found_when_it_is_reached(tmp_path: Path) -> None:
    noise = random.Random(7).randbytes(1_000_000).hex()
    content = "id,input\n" + "".join(f"{n},{noise[n * 40 : n * 40 + 40]}\n" for n in range(45_000))
    packed = bytearray(zipped(content.encode()))
    packed[-5_000] ^= 0xFF
    path = put(tmp_path, bytes(packed), "cases.csv.gz")
    found = detect_format(path)
    assert found.columns == ("id", "input")
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, found))
    assert raised.value.code == "corrupt_archive"


# Headers and quotes


def test_a_table_without_header_has_numbered_columns(tmp_path: Path) -> None:
    path = put(tmp_path, b"\n1,a\n2,b\n3\n", "cases.csv")
    found = detect_format(path, header="no")
    assert (found.columns, found.has_header) == (("column 1", "column 2"), False)
    first, second, problem = read_rows(path, found)
    assert first == Row(2, {"column 1": "1", "column 2": "a"})
    assert second == Row(3, {"column 1": "2", "column 2": "b"})
    assert (problem.line, problem.code) == (4, "row_width")  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"a,a\n1,2\n", b"a,\n1,2\n", b"only one row,of texts\n"])
def test_what_is_no_header_is_a_row(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path, content, "cases.csv")
    lines = content.decode().splitlines()
    assert [list(row.values()) for row in fields(path, header="no")] == [
        line.split(",") for line in lines
    ]


def test_objects_have_no_header(tmp_path: Path) -> None:
    assert fields(put(tmp_path, b'{"a": 1}\n', "a.jsonl"), header="no") == [{"a": 1}]


@pytest.mark.parametrize(
    ("content", "quote", "values"),
    [
        (b"a,b\n'x,y',z\n", "'", ["x,y", "z"]),
        (b'a,b\n5" pipe,z\n', "none", ['5" pipe', "z"]),
        (b'a,b\n"x,z\n', "none", ['"x', "z"]),
        (b'a,b\n"x"y,none\n', "none", ['"x"y', "none"]),
        (b'a,b\n"x,y",z\n', '"', ["x,y", "z"]),
    ],
)
def test_the_quote_can_be_chosen(
    tmp_path: Path, content: bytes, quote: str, values: list[str]
) -> None:
    path = put(tmp_path, content, "cases.csv")
    (row,) = fields(path, quote=quote)
    assert list(row.values()) == values


@given(st.text(alphabet="ab\"',;\n", max_size=60))
def test_unquoted_texts_are_split_at_delimiters_and_line_ends_alone(text: str) -> None:
    content = f"h1,h2\nx,y\n{text}".encode()
    source = Source(io.BytesIO(content), "cases.csv")
    rows = list(read_rows(source, detect_format(source, quote="none", delimiter=",")))
    lines = [line for line in text.split("\n") if line.strip(" ,")]
    assert len(rows) == 1 + len(lines)
    for row, line in zip(rows[1:], lines, strict=True):
        if isinstance(row, Row):
            assert ",".join(row.fields.values()) == line  # type: ignore[arg-type]
