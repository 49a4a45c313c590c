"""`manage.py import`: what it says, what it refuses, and what a kill in the middle leaves."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scoring.models import AuditEntry, Case, Dataset, DatasetVersion, OutputSet, Team, Upload
from tests.support.fixtures.uploads import assert_nothing_is_left, cases_of, spooled, table
from tests.support.paths import ROOT
from tests.support.waiting import DEADLINE_SECONDS
from tests.support.workbooks import FORMATTED_BOOK, packed, parts_of, row_xml, sheet_xml

__all__ = ["spooled"]


def load(path: Path, *words: str) -> str:
    """What the command says on standard output."""
    out = StringIO()
    call_command("import", str(path), "--dataset", "Answers", *words, stdout=out)
    return out.getvalue()


def refused(path: Path, *words: str) -> tuple[str, str]:
    """The error and what stands above it; the exit code is 2."""
    err = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command(
            "import", str(path), "--dataset", "Answers", *words, stdout=StringIO(), stderr=err
        )
    assert raised.value.returncode == 2
    return str(raised.value), err.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "week 1.csv"
    made.write_bytes(b"ID;Question;Gold;output\n1;a;b;c\n2;d;e;f\n")
    return made


def test_it_tells_what_it_detected_mapped_and_stored(team: Team, path: Path) -> None:
    said = load(path)
    assert "csv, utf-8, divided by ';'" in said
    for mapped in ("id = ID", "input = Question", "expected = Gold", "output = output"):
        assert mapped in " ".join(said.split())
    assert "Answers v1: new dataset, 2 cases" in said
    assert "output set week 1: 2 outputs" in said


def test_the_same_name_again_is_a_new_version(team: Team, path: Path) -> None:
    load(path)
    path.write_bytes(b"ID;Question\n1;a\n")
    assert "Answers v2: new version of the dataset, 1 case\n" in load(path)
    assert Dataset.objects.get().latest == DatasetVersion.objects.get(number=2)


def test_the_same_file_again_is_recognised(team: Team, path: Path) -> None:
    load(path)
    assert "Identical to version 1 of Answers." in load(path)
    assert (DatasetVersion.objects.count(), OutputSet.objects.count()) == (1, 1)


def test_columns_are_mapped_by_hand(team: Team, path: Path) -> None:
    load(path, "--map", "input=Gold", "--map", "expected=", "--map", "output=")
    version = DatasetVersion.objects.get()
    assert [(case.input, case.expected) for case in cases_of(version)] == [("b", None), ("e", None)]
    assert cases_of(version)[0].metadata == {"Question": "a", "output": "c"}
    assert not OutputSet.objects.exists()


def lines(said: str) -> list[str]:
    """What was said, each line with single spaces."""
    return [" ".join(line.split()) for line in said.splitlines()]


def test_a_column_taken_from_a_guess_is_told(team: Team, path: Path) -> None:
    path.write_bytes(b"id,question,answer\n1,a,b\n")
    assert "expected = nothing, as answer is mapped to output" in lines(
        load(path, "--map", "output=answer")
    )
    told = load(path, "--map", "output=answer", "--map", "expected=")
    assert "nothing" not in told  # it was asked for
    assert "nothing" not in load(path)


def test_an_error_column_that_may_still_come_is_not_told(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    row = '{{"id": "{}", "output": "b"{}}}\n'
    path.write_text("".join(row.format(n, "") for n in range(1_001)))
    assert "error" not in load(path)
    path.write_text("".join(row.format(n, ', "error": ""') for n in range(1_001)))
    assert "error = error" in lines(load(path))
    path.write_text(row.format(1, ""))  # seen whole
    assert "error" not in load(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * 121, "--dataset: the name has 121 characters; 120 are possible."),
        ("a\nb", "--dataset: 'a\\nb' holds control characters"),
        ("\udcff", "or is not UTF-8"),
        ("\udcff" * 200, "or is not UTF-8"),
    ],
)
def test_a_name_that_cannot_be_kept_whole_exits_2(
    team: Team, path: Path, name: str, said: str
) -> None:
    assert said in refused(path, "--dataset", name)[0]
    assert not Dataset.objects.exists()


def test_a_file_name_that_is_not_utf_8_is_read(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "\udcff.csv"
    path.write_bytes(b"id,output\n1,a\n")
    load(path)
    assert OutputSet.objects.get().name == "\N{REPLACEMENT CHARACTER}"


def test_a_pipe_is_refused_in_place_of_losing_its_first_rows(team: Team) -> None:
    """A shell's `<(command)` is such a path."""
    reading, writing = os.pipe()
    os.write(writing, b"id,input\n1,a\n")
    os.close(writing)
    try:
        assert "not_a_file: A pipe" in refused(Path(f"/dev/fd/{reading}"))[0]
    finally:
        os.close(reading)


def test_encoding_and_delimiter_are_chosen_by_hand(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "cases.tsv"
    path.write_bytes("id\tinput\n1\tcafé, naïve\n".encode("cp1252"))
    load(path, "--encoding", "cp1252", "--delimiter", "tab")
    (case,) = cases_of(DatasetVersion.objects.get())
    assert case.input == "café, naïve"


def test_a_terminal_is_shown_how_far_it_is(
    team: Team, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("scoring.engine.imports.uploads.HEARTBEAT_SECONDS", 0)
    err = StringIO()
    words = ("import", str(path), "--dataset", "Answers")
    call_command(*words, stdout=StringIO(), stderr=err)
    assert "\r2 rows" in err.getvalue()
    assert err.getvalue().endswith("\r\033[K")


def test_problems_are_a_table_and_nothing_is_stored(
    team: Team, tmp_path: Path, spooled: Path
) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(b"id,input,output,cost_usd\n1,a,b,1\n2,a,b,cheap\n3\n1,a,b,1\n")
    said, above = refused(path)
    assert "nothing was imported" in said
    head, *lines = above.splitlines()
    assert head.split() == ["line", "column", "code", "message"]
    assert [line.split()[0] for line in lines] == ["3", "4", "5"]
    assert lines[0].split()[1:3] == ["cost_usd", "not_a_number"]
    assert "row_width" in lines[1]
    assert "duplicate_case" in lines[2]
    assert_nothing_is_left(spooled)
    assert not Upload.objects.exists()


def test_problems_beyond_a_hundred_are_only_counted(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(b"id,input\n1,a\n" + b"2\n" * 130)
    _, above = refused(path)
    assert len(above.splitlines()) == 102
    assert above.endswith("… and 30 more\n")


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        (b"", (), "empty_file"),
        (b"PK\x03\x04", (), "type_mismatch"),
        (b"id,input\n", (), "no_rows"),
        (b"a,b\n1,2\n", (), "missing_column"),
        (b"id,ID\n1,2\n", (), "duplicate_column"),
        (b"id,input\n1,caf\xe9\n", (), "encoding"),
        (b"id,input\n1,a\n", ("--encoding", "klingon"), "encoding"),
        (b"id,input\n1,a\n", ("--map", "expected=nowhere"), "missing_column"),
        (b"id,input\n1,a\n", ("--map", "wanted=input"), "unknown_field"),
        (b"id,input\n1,a\n", ("--map", "input"), "unknown_field"),
    ],
)
def test_a_bad_file_or_mapping_exits_2_naming_the_code(
    team: Team, tmp_path: Path, spooled: Path, content: bytes, words: tuple[str, ...], code: str
) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(content)
    assert code in "".join(refused(path, *words))
    assert_nothing_is_left(spooled)


def test_a_file_that_is_not_there_exits_2(team: Team, tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nowhere.csv")[0]


def test_the_team_must_be_plain(team: Team, path: Path) -> None:
    other = Team.objects.create(name="Other", slug="other")
    assert "other, support" in refused(path)[0]
    assert "no team “nobody”" in refused(path, "--team", "nobody")[0]
    load(path, "--team", "other")
    assert Dataset.objects.get().team == other


def test_a_site_without_any_team_gets_a_first_one(db: None, path: Path) -> None:
    said = load(path)
    team = Dataset.objects.get().team
    assert (team.slug, team.name) == ("default", "Default")
    assert "made the team default, as there was none" in said
    assert AuditEntry.objects.get(action="team.created").team == team


def test_the_first_team_is_called_as_asked(db: None, path: Path) -> None:
    assert "cannot be a team's address" in refused(path, "--team", "Our Team")[0]
    load(path, "--team", "our-team")
    assert Team.objects.get().name == "Our team"


def test_a_cleaned_up_failure_does_not_touch_the_version_there_is(team: Team, path: Path) -> None:
    load(path)
    path.write_bytes(b"ID;Question\n1;a\n1;b\n")
    refused(path)
    assert Dataset.objects.get().latest == DatasetVersion.with_loading.get()
    assert Case.objects.count() == 2


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


def test_cells_of_a_workbook_are_told_and_read_as_is_chosen(tmp_path: Path, team: Team) -> None:
    path = tmp_path / "cells.xlsx"
    path.write_bytes(FORMATTED_BOOK)
    said = load(path, "--dry-run")
    assert "Line 3 is hidden, and read like the others." in said
    assert "C2 “01234” as 1234, C4 “50%” as 0.5" in said
    assert "Cells D2:D4 are merged" in said
    assert "input ✓ input · expected ✓ expected · output ✗" in said
    load(path, "--fill-merged", "--skip-hidden", "--as-shown")
    cases = Case.objects.order_by("position")
    assert [(case.expected, case.tags) for case in cases] == [("01234", ["x"]), ("50%", ["x"])]


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
    assert refused(given, "--delimiter", ',"')[0].startswith("delimiter: ")


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


def test_an_import_says_what_it_takes_for_right_answers(tmp_path: Path, team: Team) -> None:
    path = tmp_path / "cases.jsonl"
    rows: list[dict[str, object]] = [
        {"id": "1", "input": "a", "expected": ["x", "y"], "references": ["z"]},
        {"id": "2", "input": "b", "expected": "x", "references": ["y", "z"]},
        {"id": "3", "input": "c", "expected": ["x", 1]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for words in (["--dry-run"], []):
        said = load(path, *words)
        assert "expected: a list of right answers in 1 of 3 cases" in said
        assert "references: up to 2 a case, in 2 of 3 cases" in said
    path.write_text(json.dumps(rows[2]), encoding="utf-8")
    assert "right answers" not in load(path, "--dry-run")


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


@pytest.fixture(scope="module")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with one team and nothing else, as bytes."""
    folder = tmp_path_factory.mktemp("empty")
    manage(folder, "migrate", "-v0")
    with closing(sqlite3.connect(folder / "evalsite.sqlite3")) as database, database:
        database.execute(
            "INSERT INTO scoring_team (uuid, created_at, name, slug) "
            "VALUES ('01990000000070008000000000000000', '2026-01-01', 'Support', 'support')"
        )
    with closing(sqlite3.connect(folder / "evalsite.sqlite3")) as database:
        return database.serialize()


@pytest.fixture
def site(tmp_path: Path, empty_site: bytes) -> Path:
    """The data folder of a site of its own, for commands in processes of their own."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "evalsite.sqlite3").write_bytes(empty_site)
    return folder


def command(data_dir: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, "EVALSITE_DATA_DIR": str(data_dir)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def manage(data_dir: Path, *words: str) -> str:
    process = command(data_dir, *words)
    out, err = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, err
    return out


def asked(data_dir: Path, question: str) -> int:
    with closing(
        sqlite3.connect(data_dir / "evalsite.sqlite3", timeout=DEADLINE_SECONDS)
    ) as database:
        return int(database.execute(question).fetchone()[0])


def rows_in(data_dir: Path) -> dict[str, int]:
    tables = ("dataset", "datasetversion", "case", "outputset", "output", "upload")
    return {name: asked(data_dir, f'SELECT count(*) FROM "scoring_{name}"') for name in tables}


def case_counts(data_dir: Path, process: subprocess.Popen[str]) -> Iterator[int]:
    """How many case rows there are, again and again until the process ends."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        yield asked(data_dir, "SELECT count(*) FROM scoring_case")


@pytest.mark.long("20,000 rows are imported, once killed")
def test_a_kill_in_the_middle_leaves_nothing_and_the_file_then_imports(
    site: Path, tmp_path: Path
) -> None:
    rows = [[str(n), f"question {n}", f"answer {n}"] for n in range(8_000)]
    path = tmp_path / "cases.csv"
    path.write_bytes(table([["id", "input", "output"], *rows]))
    process = command(site, "import", str(path), "--dataset", "Answers")
    assert any(case_counts(site, process)), process.communicate()
    process.kill()
    process.communicate()
    assert asked(site, "SELECT count(*) FROM scoring_datasetversion WHERE state = 'ready'") == 0
    assert 0 < rows_in(site)["case"] < 8_000

    remove = "from scoring.engine import imports; imports.remove_abandoned()"
    manage(site, "shell", "-v0", "-c", remove)
    assert set(rows_in(site).values()) == {0}
    assert not list((site / "spool").iterdir())

    said = manage(site, "import", str(path), "--dataset", "Answers")
    assert "Answers v1: new dataset, 8,000 cases" in said
    assert rows_in(site) == {
        "dataset": 1,
        "datasetversion": 1,
        "case": 8_000,
        "outputset": 1,
        "output": 8_000,
        "upload": 1,
    }


def test_two_imports_at_once_into_one_name_are_two_whole_versions(
    site: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for path in paths:
        rows = [[str(n), f"{path.stem} {n}"] for n in range(6_000)]
        path.write_bytes(table([["id", "input"], *rows]))
    processes = [command(site, "import", str(path), "--dataset", "Answers") for path in paths]
    said = [process.communicate(timeout=DEADLINE_SECONDS) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    found = rows_in(site)
    assert (found["dataset"], found["datasetversion"], found["case"]) == (1, 2, 12_000)
    assert asked(site, "SELECT count(DISTINCT number) FROM scoring_datasetversion") == 2
    assert asked(site, "SELECT count(*) FROM scoring_datasetversion WHERE state = 'ready'") == 2
    mixed = (
        "SELECT count(*) FROM (SELECT version_id FROM scoring_case GROUP BY version_id "
        "HAVING count(DISTINCT substr(input_json, 1, 6)) > 1)"
    )
    assert asked(site, mixed) == 0


def test_an_interrupted_import_cleans_up_by_itself(site: Path, tmp_path: Path) -> None:
    rows = [[str(n), f"question {n}"] for n in range(60_000)]
    path = tmp_path / "cases.csv"
    path.write_bytes(table([["id", "input"], *rows]))
    process = command(site, "import", str(path), "--dataset", "Answers")
    assert any(case_counts(site, process)), process.communicate()
    process.send_signal(2)  # as Ctrl-C does
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert "stopped; nothing was imported" in said
    assert "Traceback" not in said
    assert set(rows_in(site).values()) == {0}
