"""Real awkward files: each ends in its recorded rows, or in a coded fault with its line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from scoring.core.files import FileProblem, Notes, Row, RowProblem, detect_format, read_rows
from scoring.core.files.notes import ROW_OF_DELIMITERS

# file → (code, line) of its first fault
FAULTS: dict[str, tuple[str, int | None]] = {
    "Pollock__file_escape_char_0x00.csv": ("bad_quote", 11),
    "Pollock__file_escape_char_0x5C.csv": ("bad_quote", 11),
    "Pollock__file_field_delimiter_0x20.csv": ("row_width", 3),
    "Pollock__file_multitable_more.csv": ("row_width", 85),
    "Pollock__file_multitable_same.csv": ("bad_quote", 106),
    "Pollock__file_quotation_char_0x27.csv": ("row_width", 3),
    "Pollock__row_extra_quote76_col7.csv": ("bad_quote", 77),
    "Pollock__row_field_delimiter_22_0x20.csv": ("row_width", 23),
    "Pollock__row_field_delimiter_52_0x20.csv": ("row_width", 53),
    "Pollock__row_more_sep_row36_col0.csv": ("row_width", 37),
    "Pollock__row_more_sep_row73_col7.csv": ("row_width", 74),
    "Pollock__row_more_sep_row80_col5.csv": ("row_width", 81),
    "csvkit__bad.csv": ("row_width", 2),
    "csvkit__bad_skip_lines.csv": ("row_width", 5),
    "csvkit__null_byte.csv": ("nul_character", 2),
    "csvkit__test_empty_columns_short_row.csv": ("no_rows", None),  # its row is a mere “,”
    "frictionless-py__duplicate-headers.csv": ("duplicate_column", 1),
    "messytables__characters.csv": ("encoding", 1),
    "messytables__complex.csv": ("bad_quote", 4),
    "messytables__mixedGLB.csv": ("empty_column_name", 1),
    "messytables__small.csv": ("no_rows", None),
    "messytables__weird_head_padding.csv": ("row_width", 7),
}
CLEAN = (
    *("Pollock__file_field_delimiter_0x3B.csv", "Pollock__file_no_trailing_newline.csv"),
    *("Pollock__file_one_data_row.csv", "Pollock__file_record_delimiter_0xD.csv"),
    *("Pollock__source.csv", "csv-spectrum__csvs__empty.csv"),
    *("csv-spectrum__csvs__empty_crlf.csv", "csv-spectrum__csvs__json.csv"),
    *("csv-spectrum__csvs__newlines_crlf.csv", "csv-spectrum__csvs__quotes_and_newlines.csv"),
    *("csvkit__date_like_number.csv", "csvkit__mac_newlines.csv"),
    *("csvkit__optional_quote_characters.csv", "csvkit__realdata__ks_1033_data.csv"),
    *("csvkit__sniff_limit.csv", "csvkit__test_no_leading_zeroes.csv"),
    *("csvkit__test_skip_lines.csv", "csvkit__test_utf8.csv", "csvkit__testxls_converted.csv"),
    *("frictionless-py__accent.csv", "frictionless-py__ascii-notvalid.csv"),
    *("frictionless-py__blank-rows-no-fields.csv", "frictionless-py__blank-rows.csv"),
    *("frictionless-py__delimiter.csv", "frictionless-py__doublequote.csv"),
    *(
        "frictionless-py__issue-1109.csv",
        "frictionless-py__issue-305.csv",
        "frictionless-py__leading-zeros.csv",
    ),
    "messytables__example.tsv",
)


@pytest.fixture
def folder(facts: Path) -> Path:
    return facts / "data" / "messy_csv"


@pytest.fixture
def manifest(folder: Path) -> dict[str, Any]:
    entries = json.loads((folder / "manifest.json").read_text())
    return {entry["file"]: entry for entry in entries}


def test_every_file_of_the_folder_is_in_one_of_the_tables(manifest: dict[str, Any]) -> None:
    assert {*FAULTS, *CLEAN} == set(manifest)
    assert len(FAULTS) + len(CLEAN) == len(manifest) == 51


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_file_gives_its_recorded_rows(
    name: str, folder: Path, manifest: dict[str, Any]
) -> None:
    recorded = manifest[name]
    path = folder / name
    found = detect_format(path)
    notes = Notes()
    rows = list(read_rows(path, found, notes))
    fields = [row.fields for row in rows if isinstance(row, Row)]
    empty = sum(note.number for note in notes.listed if note.code == ROW_OF_DELIMITERS)
    blank = recorded["widths"].get("0", 0) + empty
    assert len(fields) == len(rows) == recorded["python_csv_rows"] - 1 - blank
    with path.open(newline="", encoding="utf-8-sig") as stream:
        lines = (line for line in stream if line.strip("\r\n"))
        sign = found.delimiter[:1]
        has_space = len(found.delimiter) > 1
        whole = list(csv.DictReader(lines, delimiter=sign, skipinitialspace=has_space))
        assert fields == [row for row in whole if any(row.values())]
    if "expected_records" in recorded:
        # The records were noted before the repository's line ends were made alike.
        assert fields == [_unix(row) for row in recorded["expected_records"]]
    if "dialect" in recorded:
        assert found.delimiter == recorded["dialect"]["delimiter"]
        assert list(found.columns) == recorded["dialect"]["column_names"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_file_says_what_and_where(
    name: str, folder: Path, manifest: dict[str, Any]
) -> None:
    code, line, text = _first_fault(folder / name)
    assert (code, line) == FAULTS[name]
    assert text.endswith((".", ")."))
    recorded = manifest[name]
    if code == "encoding":
        assert f"Byte {recorded['first_bad_byte']:,} " in text
    if code == "nul_character":
        assert recorded["nul_bytes"] > 0
    if code == "duplicate_column":
        assert recorded["duplicate_header"]
    if code == "empty_column_name":
        assert recorded["blank_header_cells"] > 0
    if code == "row_width":
        assert len(recorded["widths"]) > 1


def _first_fault(path: Path) -> tuple[str, int | None, str]:
    try:
        for row in read_rows(path, detect_format(path, header="yes")):
            if isinstance(row, RowProblem):
                return row.code, row.line, row.message
    except FileProblem as fault:
        return fault.code, fault.line, fault.text
    pytest.fail("the file was read without a fault")


def _unix(row: dict[str, Any]) -> dict[str, Any]:
    return {name: text.replace("\r\n", "\n") for name, text in row.items()}
