"""`manage.py import` with options: read otherwise, looked at only, bad rows left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.models import Case, DatasetVersion, OutputSet, Team, Upload
from tests.core.workbooks import packed, parts_of, row_xml, sheet_xml
from tests.engine.loading.conftest import assert_nothing_is_left
from tests.engine.loading.test_import import load, refused


@pytest.fixture
def given(tmp_path: Path, team: Team) -> Path:
    return tmp_path / "cases.csv"


@pytest.mark.parametrize(
    ("content", "words", "said", "texts"),
    [
        (b"id,input\n1,'a,b'\n", ("--quote", "single"), "quoted by '", ["a,b"]),
        (b'id,input\n1,5" pipe\n', ("--quote", "none"), "quoted by none", ['5" pipe']),
        (b"id\tinput\n1\ta,b\n", ("--delimiter", "tab"), "divided by '\\t'", ["a,b"]),
        (b"id,input\n1,caf\xe9\n", ("--encoding", "cp1252"), "csv, cp1252", ["café"]),
        (
            b"1,a\n2,b\n",
            ("--no-header", "--map", "id=column 1", "--map", "input=column 2"),
            "no header",
            ["a", "b"],
        ),
    ],
)
def test_a_file_is_read_as_the_options_say(
    given: Path, content: bytes, words: tuple[str, ...], said: str, texts: list[str]
) -> None:
    given.write_bytes(content)
    assert said in load(given, *words)
    assert [case.input for case in Case.objects.order_by("position")] == texts


def test_a_first_row_that_looks_like_values_is_not_lost(given: Path) -> None:
    given.write_bytes(b"1,a\n2,b\n")
    said = "".join(refused(given))
    assert "missing_column" in said
    assert "The first row looks like values" in said
    assert "--header if it holds names" in load(given, "--map", "input=column 2")
    assert [case.input for case in Case.objects.order_by("position")] == ["a", "b"]


def test_a_first_row_is_names_where_that_is_said(given: Path) -> None:
    given.write_bytes(b"1,a\n2,b\n")
    assert "no header" not in load(given, "--header", "--map", "input=a")
    assert Case.objects.get().input == "b"


def test_a_sheet_of_a_workbook_is_chosen_by_name(tmp_path: Path, team: Team) -> None:
    sheets = {
        name: sheet_xml(row_xml("id", "input") + row_xml("1", name)) for name in ("One", "Two")
    }
    path = tmp_path / "cases.xlsx"
    path.write_bytes(packed(parts_of(sheets)))
    assert "xlsx, sheet 'Two' (1 more)" in load(path, "--sheet", "Two")
    assert Case.objects.get().input == "Two"
    assert "missing_sheet" in "".join(refused(path, "--sheet", "Three"))


def test_what_cannot_divide_columns_is_refused(given: Path) -> None:
    given.write_bytes(b"id,input\n1,a\n")
    assert refused(given, "--delimiter", "ab")[0].startswith("delimiter: ")


def test_a_dry_run_says_what_an_import_would_find_and_stores_nothing(
    given: Path, spooled: Path
) -> None:
    given.write_bytes(b"id,input,output\n1,a longer text,x\n2,a longer text,y\n3,A longer text,z\n")
    said = load(given, "--dry-run")
    assert "3 rows, 3 cases; nothing was stored." in said
    for told in ("1 repeated input", "1 near duplicate", "output: 3 outputs"):
        assert told in said
    assert not Upload.objects.exists()
    assert_nothing_is_left(spooled)
    load(given)
    assert "Identical to version 1." in load(given, "--dry-run")


def test_a_dry_run_is_refused_where_an_import_is(given: Path, spooled: Path) -> None:
    given.write_bytes(b"id,input\n1,a\n1,b\n")
    assert "duplicate_case" in refused(given, "--dry-run")[1]
    assert "1 skipped row" in load(given, "--dry-run", "--skip-bad-rows")
    assert_nothing_is_left(spooled)


def test_bad_rows_are_left_out_by_choice_and_counted_on_the_version(given: Path) -> None:
    given.write_bytes(b"id,input\n1,a\n2\n3,c\n1,d\n")
    refused(given)
    assert "2 skipped rows" in load(given, "--skip-bad-rows")
    version = DatasetVersion.objects.get()
    assert (version.case_count, version.skipped_rows) == (2, 2)


def test_a_file_that_breaks_off_is_refused_even_so(given: Path, spooled: Path) -> None:
    given.write_bytes(b'id,input\n1,a\n2,"b\n')
    assert "unclosed_quote" in refused(given, "--skip-bad-rows")[1]
    assert_nothing_is_left(spooled)


def test_references_and_tags_are_split_where_the_mapping_says(given: Path) -> None:
    given.write_bytes(b"id,input,others,labels\n1,a,x; y;,p/q\n")
    words = [
        *("--map", "references=others", "--map", "references_separator=;"),
        *("--map", "tags=labels", "--map", "tags_separator=/"),
    ]
    load(given, *words)
    case = Case.objects.get()
    assert (case.references, case.tags) == (["x", "y"], ["p", "q"])


def test_columns_that_look_like_outputs_are_several_runs(given: Path) -> None:
    given.write_bytes(b"id,input,gpt-4o output,small output\n1,a,x,y\n")
    load(given)
    assert sorted(OutputSet.objects.values_list("name", flat=True)) == ["gpt-4o", "small"]
