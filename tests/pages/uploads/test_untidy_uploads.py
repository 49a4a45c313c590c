"""Untidy tables through the page, the commands and the API: read as meant, and told."""

from __future__ import annotations

import html
import json
import re
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from scoring.engine import imports
from scoring.models import Case, DatasetVersion, Output, Scorer, Suite, Team
from tests.conftest import MakeDataset
from tests.pages.uploads.steps import checked, html_of, imported, sent, url_of
from tests.support.undone import undone

UNTIDY = b'Report of May,,\n(in order),,\nid,input,\n1,a,\n,,\n2,5" pipe,\n'
NOTES = [
    "Column 3 has no name and no values: left out.",
    "Line 5 holds nothing but delimiters: skipped.",
    "Line 6 has a quote inside a cell that is not quoted; it is kept as text.",
]
INPUTS = {"1": "a", "2": '5" pipe'}


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def inputs() -> dict[str, Any]:
    return {case.key: case.input for case in Case.objects.all()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "may.csv"
    made.write_bytes(UNTIDY)
    return made


# The page


def test_the_page_skips_lines_and_tells_what_it_left_out(browser: Client, spool: Path) -> None:
    upload = sent(browser, UNTIDY, "may.csv")
    shown = text_of(html_of(browser, upload, data={"skip_lines": "2"}))
    assert "first 2 lines skipped" in shown
    assert "2 columns" in shown
    assert all(note in shown for note in NOTES)
    given = {"skip_lines": "2", "column-0": "id", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imports.check_upload(upload)
    shown = text_of(html_of(browser, upload))
    assert all(note in shown for note in NOTES)
    assert "first 2 lines skipped" in shown
    imported(browser, upload)
    assert inputs() == INPUTS


def test_a_number_of_lines_that_is_none_skips_none(
    browser: Client, spool: Path, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["-1", "10001", "x"]
    for lines in cases:
        with subtests.test(lines=lines), undone():
            upload = sent(browser, b"id,input\n1,a\n")
            shown = html_of(browser, upload, data={"skip_lines": lines})
            assert "2 columns" in text_of(shown)


def test_a_detected_space_after_commas_is_said_and_can_be_undone(
    browser: Client, spool: Path
) -> None:
    upload = sent(browser, b'id, input\n1, "Paris"\n2,  Rome\n')
    shown = text_of(html_of(browser, upload))
    assert "Columns are divided by a comma and a space." in shown
    undone = text_of(html_of(browser, upload, data={"delimiter": ",", "quote": '"'}))
    assert "columns parted by a comma " in undone
    imported(browser, checked(browser, upload))
    assert inputs() == {"1": "Paris", "2": " Rome"}


def test_any_delimiter_can_be_asked_for(browser: Client, spool: Path) -> None:
    upload = sent(browser, b"id::input\n1::a\n")
    browser.post(url_of(upload), {"delimiter": "::", "column-0": "id", "column-1": "input"})
    upload.refresh_from_db()
    imports.check_upload(upload)
    imported(browser, upload)
    assert inputs() == {"1": "a"}


def test_pasted_rows_are_read_alike(browser: Client, spool: Path) -> None:
    pasted = "id\tinput\t\r\n1\ta\t\r\n\t\t\r\n"
    upload = sent(browser, pasted=pasted, file="")
    shown = text_of(html_of(browser, upload))
    assert NOTES[0] in shown
    assert "Line 3 holds nothing but delimiters: skipped." in shown


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    """A dataset of two cases whose suite compares texts."""
    made = make_dataset([{"key": key, "input": key, "expected": "a"} for key in "12"])
    scorer = Scorer.objects.define(made.dataset.team, "same", "exact_match", {})
    made.dataset.suite = Suite.objects.define(made.dataset.team, "all", [(scorer, None)])
    made.dataset.save()
    return made


OUTPUTS = b"Run of May\nid,output,judge,seen at\n1,a,yes,May\n2,b,no,May\n"


def test_columns_of_outputs_that_nothing_maps_are_told(
    browser: Client, spool: Path, version: DatasetVersion
) -> None:
    dataset = str(version.dataset.uuid)
    upload = sent(browser, OUTPUTS.split(b"\n", 1)[1], "o.csv", kind="outputs", dataset=dataset)
    wanted = "Not used: judge, seen at."
    assert f"{wanted} What these columns hold is not stored." in text_of(html_of(browser, upload))
    assert wanted in text_of(html_of(browser, checked(browser, upload)))


def test_nested_columns_count_as_used_where_a_path_leads_into_them(
    browser: Client, spool: Path, version: DatasetVersion
) -> None:
    rows = b'{"id": "1", "output": {"text": "a", "by": "m"}, "note": {"a": 1}}\n'
    dataset = str(version.dataset.uuid)
    upload = sent(browser, rows, "o.jsonl", kind="outputs", dataset=dataset)
    shown = text_of(html_of(browser, upload))
    assert "Not used: output.by, note, note.a." in shown


# The commands


def test_import_skips_lines_and_tells_what_it_left_out(team: Team, path: Path) -> None:
    said = StringIO()
    call_command("import", str(path), "--dataset", "A", "--skip-lines", "2", stdout=said)
    assert "the first 2 lines skipped" in said.getvalue()
    assert [line.strip() for line in said.getvalue().splitlines()][-3:] == NOTES
    assert inputs() == INPUTS


def test_import_takes_a_delimiter_of_several_signs(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id||input\n1||"a||b"\n')
    call_command("import", str(path), "--dataset=A", "--delimiter=||", stdout=StringIO())
    assert inputs() == {"1": "a||b"}


def test_evaluate_skips_lines_and_tells_unused_columns(
    version: DatasetVersion, tmp_path: Path
) -> None:
    path, said = tmp_path / "o.csv", StringIO()
    path.write_bytes(OUTPUTS)
    asked = ("--outputs", str(path), "--skip-lines=1")
    name = version.dataset.name
    call_command("evaluate", name, *asked, stdout=StringIO(), stderr=said)
    assert "columns not used: judge, seen at" in said.getvalue()
    assert [output.text for output in Output.objects.order_by("pk")] == ["a", "b"]


@pytest.mark.parametrize("lines", ["-1", "x", "10001", "1.5"])
def test_a_number_of_lines_that_is_none_is_misuse(team: Team, path: Path, lines: str) -> None:
    with pytest.raises(CommandError, match="--skip-lines"):
        call_command("import", str(path), "--dataset=A", f"--skip-lines={lines}")


def test_score_tells_what_it_left_out_beside_its_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = b'output,expected,\na"b,a"b,\n,,\n'
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(table)))
    out, said = StringIO(), StringIO()
    call_command("score", "-", "--scorer=exact_match", stdout=out, stderr=said)
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["score"] == 1.0
    assert said.getvalue().splitlines() == [
        "Column 3 has no name and no values: left out.",
        "Line 2 has a quote inside a cell that is not quoted; it is kept as text.",
        "Line 3 holds nothing but delimiters: skipped.",
    ]


# One bad record alone

ONLY_RECORDS = [
    (b'{"id": 1, "input": NaN}\n', "a.jsonl", "not_finite"),
    (b'[{"a": 1, "a": 2}]', "a.json", "duplicate_key"),
    (b"a,b\n1\n", "a.csv", "row_width"),
    (b'a,b\n1,"x"y"z"\n', "a.csv", "bad_quote"),
]
each_record = pytest.mark.parametrize(("content", "name", "code"), ONLY_RECORDS)


@each_record
def test_a_file_of_one_bad_record_has_its_code(
    browser: Client, team: Team, spool: Path, content: bytes, name: str, code: str
) -> None:
    upload = checked(browser, sent(browser, content, name))
    assert [problem["code"] for problem in upload.problems] == [code]
    path, said = spool / name, StringIO()
    path.write_bytes(content)
    with pytest.raises(CommandError):
        call_command("import", str(path), "--dataset=A", stdout=StringIO(), stderr=said)
    assert code in said.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b'{"id": "1", "output": NaN}\n', "o.jsonl", "not_finite"),
        (b"a,b\n1\n", "o.csv", "row_width"),
    ],
)
def test_evaluate_answers_with_its_code(
    version: DatasetVersion, tmp_path: Path, content: bytes, name: str, code: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{code}: "):
        call_command("evaluate", version.dataset.name, f"--outputs={path}", stdout=StringIO())


def test_score_answers_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b'a,b\n1,"x"y"z"\n')))
    with pytest.raises(CommandError, match="follows the closing quote"):
        call_command("score", "-", "--scorer=exact_match", stdout=StringIO())


def test_score_recommends_an_encoding_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"output,expected\ncaf\xe9,a\n")
    with pytest.raises(CommandError, match=r"choose the encoding cp1252"):
        call_command("score", str(path), "--scorer=exact_match", stdout=StringIO())
