"""Every code that a bad file can have: through the page and through the command, nothing left."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Final
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.core.files import decompression
from scoring.engine import imports
from scoring.engine.imports import reader
from scoring.models import Case, Dataset, DatasetVersion, Output, OutputSet, Team, Upload
from tests.pages.uploads.steps import checked as checked_page
from tests.pages.uploads.steps import html_of, imported, mapped, send, sent, url_of
from tests.support.undone import undone
from tests.support.workbooks import UNUSABLE, packed, parts_of, row_xml, sheet_xml, simple, workbook

zipped = partial(gzip.compress, mtime=0)  # the same bytes, and test names, at any time

Bad = tuple[str, bytes, str, int | None]  # file name, content, code, line
BOMB: Final = zipped(b"[" + b" " * 5 * 1024**2)
MANY_KEYS: Final = json.dumps({"id": 1, "input": {str(n): 1 for n in range(10_001)}}).encode()

TABLES: Final[list[Bad]] = [
    ("cases.csv", b"", "empty_file", None),
    ("bom.csv", b"\xef\xbb\xbf", "empty_file", None),
    ("header.csv", b"id,input\n", "no_rows", None),
    ("blank.csv", b"\n \n\n", "no_rows", None),
    ("cases.csv", b"a,b\n1,2\n", "missing_column", None),
    ("cases.csv", b"id,input, ID \n1,a,b\n", "duplicate_column", 1),
    ("cases.csv", b"id,,input\n1,a,b\n", "empty_column_name", 1),
    ("wide.csv", b"id,input\n1,a\n2\n", "row_width", 3),
    ("open.csv", b'id,input\n1,a\n2,"b\n3,c\n', "unclosed_quote", 3),
    ("cases.csv", b'id,input\n1,"a"b\n', "bad_quote", 2),
    ("latin.csv", b"id,input\n1,caf\xe9\n", "encoding", 2),
    ("utf16.csv", "id,input\n1,a\n".encode("utf-16-le"), "encoding", None),
    ("cases.csv", b"id,input\n1," + b"x" * (1024**2 + 1) + b"\n", "cell_too_long", 2),
    ("lines.csv", b"id,input\n1,a\n2," + b"x" * (16 * 1024**2) + b"\n", "line_too_long", 3),
    ("cases.csv", ",".join(f"c{n}" for n in range(1001)).encode() + b"\n", "too_many_columns", 1),
    ("rows.csv", b"id,input\n" + b"".join(b"%d,a\n" % n for n in range(31)), "too_many_rows", None),
    ("cases.csv", b"PK\x03\x04 and so on", "type_mismatch", None),
    ("cases.csv", b"\x89PNG\r\n\x1a\n", "type_mismatch", None),
    ("cases.jsonl", b"%PDF-1.7\n", "type_mismatch", None),
    ("program.csv", b"\x7fELF\x02\x01\x01" + bytes(300), "type_mismatch", None),
    ("program", b"MZ\x90\0\x03\0\0\0\x04\0\xff\xff" + bytes(300), "type_mismatch", None),
    ("noise.json", Random(7).randbytes(3_000), "type_mismatch", None),
    ("letters.zip", packed({"a.txt": "id,input"}), "type_mismatch", None),
    ("picture.xlsx", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "type_mismatch", None),
    ("doc.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "type_mismatch", None),
    ("nul.csv", b"id,input\n1,a\x00b\n", "nul_character", 2),
    ("scores.csv", b"id,input,output,cost_usd\n1,a,b,cheap\n", "not_a_number", 2),
    ("scores.csv", b"id,input,output,cost_usd\n1,a,b,-1\n", "out_of_range", 2),
    ("trials.csv", b"id,input,output,trial\n1,a,b,40000\n", "out_of_range", 2),
    ("twice.csv", b"id,input\n1,a\n2,b\n1,c\n", "duplicate_case", 4),
    ("ids.csv", b"id,input\n" + b"x" * 201 + b",a\n", "id_too_long", 2),
    ("ids.csv", b"id,input\n,a\n", "missing_id", 2),
]
OBJECTS: Final[list[Bad]] = [
    ("cases.jsonl", b'{"id": 1, "input": 1}\n{"id": 2, \n', "invalid_json", 2),
    ("cases.json", b'[{"id": 1, "input": 1}', "invalid_json", 1),
    ("cases.jsonl", b'{"id": 1, "input": 1}\n[1]\n', "wrong_shape", 2),
    ("cases.json", b'{"a": 1}', "wrong_shape", None),
    ("cases.json", b"[]", "no_rows", None),
    ("cases.jsonl", b'{"id": 1, "input": {"a": 1, "a": 2}}\n', "duplicate_key", 1),
    ("nan.jsonl", b'{"id": 1, "input": NaN}\n', "not_finite", 1),
    ("infinite.jsonl", b'{"id": 1, "input": -Infinity}\n', "not_finite", 1),
    ("large.jsonl", b'{"id": 1, "input": 1e999}\n', "not_finite", 1),
    ("long.jsonl", b'{"id": 1, "input": ' + b"9" * 5000 + b"}\n", "number_too_long", 1),
    ("deep.jsonl", b'{"id": 1, "input": ' + b"[" * 80 + b"]" * 80 + b"}\n", "too_deep", 1),
    ("keys.jsonl", MANY_KEYS, "too_many_keys", 1),
    ("half.jsonl", b'{"id": 1, "input": "\\ud800"}\n', "invalid_unicode", 1),
    ("half.jsonl", b'{"id": 1, "input": "\xed\xa0\x80"}\n', "invalid_unicode", 1),
    ("nul.jsonl", b'{"id": 1, "input": "a\\u0000b"}\n', "nul_character", 1),
]
PACKED: Final[list[Bad]] = [
    ("cases.csv.gz", zipped(b""), "empty_file", None),
    ("cases.csv.gz", b"id,input\n1,a\n", "type_mismatch", None),
    ("cases.csv.gz", zipped(b"id,input\n1,a\n")[:-4], "corrupt_archive", None),
    ("bomb.json.gz", BOMB, "too_large_unpacked", None),
    ("bomb.xlsx", workbook(row_xml("id"), row_xml(" " * 5 * 1024**2)), "too_large_unpacked", None),
    ("wide.jsonl.gz", zipped(b'{"id": 1, "input": 1}\n7\n'), "wrong_shape", 2),
    *((name, content, code, None) for name, content, code in UNUSABLE),
    ("wide.xlsx", simple(("id", "input"), ("1", "a"), ("2", "b", "c")), "row_width", 3),
    ("now.xlsx", workbook(row_xml("id", "input"), row_xml("1", "<c><f>A1</f></c>")), "no_value", 2),
    ("twice.xlsx", simple(("id", "input"), ("1", "a"), ("1", "b")), "duplicate_case", 3),
]  # fmt: skip
BAD: Final = [*TABLES, *OBJECTS, *PACKED]
#: The codes that the specification of uploads names.
NAMED: Final = """
    empty_file no_rows missing_column duplicate_column empty_column_name row_width unclosed_quote
    bad_quote encoding cell_too_long line_too_long too_many_columns too_many_rows type_mismatch
    too_large_unpacked corrupt_archive unsafe_archive unsafe_xml unsupported_workbook invalid_json
    wrong_shape duplicate_key not_finite number_too_long too_deep too_many_keys invalid_unicode
    nul_character not_a_number out_of_range duplicate_case id_too_long
"""
#: What is said besides the line, by file and code: both places, what was found, the way out.
WORDS: Final = {
    ("cases.csv", "missing_column"): ("Needed column: one for id or input. Found: a, b.",),
    ("cases.csv", "duplicate_column"): ("Columns 1 and 3",),
    ("latin.csv", "encoding"): ("Byte 14", "cp1252", "latin-1"),
    ("utf16.csv", "encoding"): ("utf-16-le",),
    ("twice.csv", "duplicate_case"): ("Lines 2 and 4",),
    ("cases.jsonl", "duplicate_key"): ("input.a",),
    ("nan.jsonl", "not_finite"): ("The number at input",),
    ("program.csv", "type_mismatch"): ("is a program", "CSV, TSV, JSON, JSONL or XLSX"),
    ("noise.json", "type_mismatch"): ("a binary file, not text",),
    ("picture.xlsx", "type_mismatch"): ("a PNG image",),
}


def name_of(bad: Bad) -> str:
    return f"{bad[0]}-{bad[2]}"


each_bad = pytest.mark.parametrize("bad", BAD, ids=name_of)
FIRST: Final = {bad[2]: bad for bad in reversed(BAD)}.values()
#: The page reads as the command does: some files show that it says so, all the first of each code.
some_codes = pytest.mark.parametrize(
    "bad",
    [
        pytest.param(bad, marks=[pytest.mark.slow] * (number % 4 > 0 and bad[::2] not in WORDS))
        for number, bad in enumerate(FIRST)
    ],
    ids=list(map(name_of, FIRST)),
)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_ROWS", 30)
    monkeypatch.setattr(decompression, "MAX_UNPACKED", 4 * 1024**2)


def assert_nothing_is_left(spool: Path) -> None:
    for model in (Dataset, Case, OutputSet, Output):
        assert not model._default_manager.exists(), model
    assert not DatasetVersion.with_loading.exists()
    assert list(spool.iterdir()) == []


def assert_says(text: str, bad: Bad) -> None:
    name, _, code, line = bad
    assert re.search(rf"\b{code}\b", text)
    assert all(word in text for word in WORDS.get((name, code), ())), text
    if line is not None:
        assert re.search(rf"(?i)\blines?\b[^.]*\b{line}\b", text), text


def test_every_named_code_has_a_file() -> None:
    assert {bad[2] for bad in BAD} >= set(NAMED.split())


@some_codes
def test_the_page_says_what_is_wrong_and_keeps_nothing(
    browser: Client, spool: Path, bad: Bad
) -> None:
    name, content = bad[:2]
    answer = send(browser, content, name)
    if answer.status_code == 302:
        answer = _onwards(browser, Upload.objects.get())
    else:
        assert answer.status_code == 422
        assert not Upload.objects.exists()
    shown = html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
    assert_says(shown, bad)
    for upload in Upload.objects.all():
        browser.post(url_of(upload, "load_upload"))  # refused, as nothing ticked skips bad rows
        upload.refresh_from_db()
        assert upload.state in ("received", "checked")
        browser.post(url_of(upload, "cancel_upload"))
    assert_nothing_is_left(spool)


def _onwards(browser: Client, upload: Upload) -> object:
    """Maps and checks, as far as the file goes; the last page."""
    page = browser.get(url_of(upload))
    if "form" not in page.context:
        return page
    answer = mapped(browser, upload)
    if answer.status_code != 302:
        assert answer.status_code == 422
        return answer
    upload.refresh_from_db()
    imports.check_upload(upload)
    return browser.get(url_of(upload))


@each_bad
def test_the_command_says_what_is_wrong_and_keeps_nothing(
    team: Team, spool: Path, tmp_path: Path, bad: Bad
) -> None:
    path = tmp_path / bad[0]
    path.write_bytes(bad[1])
    said = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("import", str(path), "--dataset", "A", stdout=StringIO(), stderr=said)
    assert raised.value.returncode == 2
    assert_says(_unfolded(f"{said.getvalue()}\n{raised.value}"), bad)
    assert not Upload.objects.exists()
    assert_nothing_is_left(spool)


def _unfolded(text: str) -> str:
    """The table's rows with their line told as in a sentence."""
    return re.sub(r"(?m)^(\d+) ", r"line \1 ", text)


@pytest.mark.parametrize(
    ("name", "content", "row"),
    [
        (
            "cases.jsonl",
            b'{"id": 1, "input": {"a": [1, NaN]}}\n',
            ("1", "input.a[1]", "The number at input.a[1] is not finite. Correct it."),
        ),
        (
            "cases.json",
            b'[{"id": 1, "input": 1},\n{"id": 2, "input": {"a": 1, "a": 2}}]',
            ("2", "input.a", "Item 2 (line 2): the key input.a appears twice. Correct it."),
        ),
        (
            "cases.csv",
            b"id,input,output,cost_usd\n1,a,b,cheap\n",
            ("2", "cost_usd", "“cheap” is not a number. Write it like 412 or 0.25."),
        ),
        (
            "cases.csv",
            b'id,input\n1,"a"b\n',
            ("2", "", "Text follows the closing quote of a cell."),
        ),
        (
            "cases.xlsx",
            simple(("id", "input"), ("1", "a", "b_x0000_")),
            ("2", "C", "The cell holds a NUL character. Remove it."),
        ),
    ],
)
def test_a_problem_says_its_place_once_and_beside_it(
    browser: Client, team: Team, tmp_path: Path, name: str, content: bytes, row: tuple[str, ...]
) -> None:
    html_shown = html_of(browser, checked_page(browser, sent(browser, content, name)))
    table = html.unescape(html_shown[html_shown.index("<h3>Problems") :])
    cells = [cell.strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", table, re.DOTALL)]
    assert (cells[0], cells[1]) == row[:2]
    assert cells[2].startswith(row[2])
    path, said = tmp_path / name, StringIO()
    path.write_bytes(content)
    with pytest.raises(CommandError):
        call_command("import", str(path), "--dataset", "A", stdout=StringIO(), stderr=said)
    told = said.getvalue().splitlines()[-1].split(maxsplit=2 if row[1] else 1)
    assert told[: len(told) - 1] == [place for place in row[:2] if place]
    assert told[-1].partition(" ")[2].strip().startswith(row[2])


def test_the_first_hundred_problems_are_listed_and_all_are_counted(browser: Client) -> None:
    """Of the command see tests/management/commands/test_import.py."""
    rows = b"id,input\n1,a\n" + b"2\n" * 28
    with patch.object(reader, "MAX_ROWS", 200):
        upload = checked_page(browser, sent(browser, rows + b"3\n" * 102))
    shown = html_of(browser, upload)
    assert "Problems: the first 100 of 130" in shown
    assert shown.count("<code>row_width</code>") == 100


# What is refused before there is a file to look at


def test_a_length_that_lies_is_413_all_the_same(
    browser: Client, settings: Settings, spool: Path
) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = 1024
    rows = b"id,input\n" + b"1,a\n" * 100_000
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n'
    told = b"Content-Length: 10\r\nContent-Type: text/csv\r\n\r\n"
    kind = b'--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\ndataset\r\n'
    answer = browser.post(
        reverse("new_upload", args=["support"]),
        kind + part + told + rows + b"\r\n--x--\r\n",
        content_type="multipart/form-data; boundary=x",
    )
    assert answer.status_code == 413
    assert_nothing_is_left(spool)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; b=\xff"]
)
def test_a_broken_multipart_body_is_400(browser: Client, spool: Path, kind: str) -> None:
    url = reverse("new_upload", args=["support"])
    assert browser.post(url, b"--no boundary", content_type=kind).status_code == 400
    assert_nothing_is_left(spool)


@pytest.mark.parametrize("checks", [False, True])
def test_a_connection_that_breaks_or_stalls_leaves_no_file(
    browser: Client, spool: Path, checks: bool
) -> None:
    """With and without the check against forged requests, which reads the body first."""
    browser.handler.enforce_csrf_checks = checks
    browser.raise_request_exception = False
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,input\n'
    stream = Breaking(part + b"1,a\n" * 100_000, spool)
    url = reverse("new_upload", args=["support"])
    browser.get(url)  # sets the cookie that the check wants
    told = {"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": "9000000"}
    answer = browser.generic("POST", url, **told, **{"wsgi.input": stream})
    assert stream.files_seen == 1
    assert answer.status_code == 408
    assert_nothing_is_left(spool)


class Breaking(io.RawIOBase):
    """A body of which only the beginning comes."""

    def __init__(self, content: bytes, spool: Path) -> None:
        self._content, self._spool = io.BytesIO(content), spool
        self.files_seen = 0

    def read(self, size: int = -1) -> bytes:
        if chunk := self._content.read(size):
            return chunk
        self.files_seen = len(list(self._spool.iterdir()))
        raise BlockingIOError(11, "Resource temporarily unavailable")


# What looks bad and is not


def test_what_looks_bad_and_is_not_goes_in_as_it_is(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, bytes, dict[str, object]]] = [
        ("bom.csv", b"\xef\xbb\xbfid,input\n1,a\n", {"1": "a"}),
        ("utf16.csv", "id,input\n1,Größe\n".encode("utf-16"), {"1": "Größe"}),
        ("big.csv", b"\xfe\xff" + "id,input\n1,\u4f60".encode("utf-16-be"), {"1": "\u4f60"}),
        ("mixed.csv", b"id,input\r\n1,a\n2,b\r3,c", {"1": "a", "2": "b", "3": "c"}),
        ("semicolon.csv", b"id;input\n1;a,b\n", {"1": "a,b"}),
        ("formula.csv", b"id,input\n1,=1+1\n2,@x\n3,-5\n", {"1": "=1+1", "2": "@x", "3": "-5"}),
        ("marks.csv", "id,input\n1,\u202ea\u200bb\x07\n".encode(), {"1": "\u202ea\u200bb\x07"}),
        ("proto.jsonl", b'{"id": 1, "input": {"__proto__": 1}}', {"1": {"__proto__": 1}}),
        ("null.jsonl", b'{"id": 1, "input": null}\n{"id": 2, "input": ""}', {"1": None, "2": ""}),
        ("pair.jsonl", b'{"id": "1", "input": "\\ud83d\\ude00"}', {"1": "\U0001f600"}),
        ("book.xlsx", simple(("id", "input"), ("1", "=1+1")), {"1": "=1+1"}),
    ]
    for name, content, expected in cases:
        with subtests.test(name=name, content=content, expected=expected), undone():
            imported(browser, checked_page(browser, sent(browser, content, name)))
            assert {case.key: case.input for case in Case.objects.all()} == expected


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_without_its_mark_is_read_by_who_chooses_its_encoding(
    browser: Client, team: Team, tmp_path: Path, encoding: str
) -> None:
    """Refused by itself as `encoding`; see TABLES."""
    content = "id,input\n1,Größe\n".encode(encoding)
    upload = sent(browser, content, "cases.csv")
    given = {"encoding": encoding, "column-0": "id", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imports.check_upload(upload)
    imported(browser, upload)
    path = tmp_path / "cases.csv"
    path.write_bytes(content)
    call_command("import", str(path), "--dataset", "A", "--encoding", encoding, stdout=StringIO())
    assert [case.input for case in Case.objects.all()] == ["Größe", "Größe"]


def test_empty_null_and_missing_stay_three_things(browser: Client) -> None:
    rows = b'{"id": 1, "input": "a", "expected": ""}\n{"id": 2, "input": "a", "expected": null}\n'
    rows += b'{"id": 3, "input": "a"}\n'
    imported(browser, checked_page(browser, sent(browser, rows, "cases.jsonl")))
    found = [(case.has_expected, case.expected) for case in Case.objects.order_by("position")]
    assert found[:2] == [(True, ""), (True, None)]
    assert found[2][0] is False


def test_the_same_bytes_twice_are_told_through_both_ways(
    browser: Client, team: Team, tmp_path: Path
) -> None:
    path = tmp_path / "Sums.csv"
    path.write_bytes(b"id,input\n1,a\n")
    imported(browser, checked_page(browser, sent(browser, path.read_bytes(), "Sums.csv")))
    again = sent(browser, path.read_bytes(), dataset=str(team.datasets.get().uuid))
    assert "identical to version 1" in html_of(browser, checked_page(browser, again))
    said = StringIO()
    call_command("import", str(path), "--dataset", "Sums", stdout=said)
    assert "Identical to version 1" in said.getvalue()
    assert DatasetVersion.with_loading.count() == 1


def test_parts_of_a_workbook_beside_its_sheets_do_no_harm(browser: Client) -> None:
    parts = parts_of({"A": sheet_xml(row_xml("id", "input") + row_xml("1", "a"))})
    content = packed({**parts, "xl/vbaProject.bin": "x", "docProps/app.xml": "<broken"})
    imported(browser, checked_page(browser, sent(browser, content, "macro.xlsm")))
    assert Case.objects.get().input == "a"
