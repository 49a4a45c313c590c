"""A bad file: every code, its place, and nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scoring.core.files import FileProblem
from scoring.engine import imports
from scoring.engine.imports import reader
from scoring.models import Case, Dataset, Output, Upload, UploadState
from tests.support.fixtures.uploads import (
    Put,
    assert_nothing_is_left,
    cases_of,
    check,
    load,
    load_unchecked,
)

BAD = [
    ("blank.csv", b"id,input\n\n\n", "no_rows"),
    ("cases.csv", b"\n\n", "no_rows"),
    ("cases.csv", b"a,b\n1,2\n", "missing_column"),
    ("cases.csv", b"id,input, ID \n1,a,b\n", "duplicate_column"),
    ("cases.csv", b"id,,input\n1,a,b\n", "empty_column_name"),
    ("cases.csv", b"id,input\n1,a\n2\n", "row_width"),
    ("cases.csv", b'id,input\n1,"a\n2,b\n', "unclosed_quote"),
    ("cases.csv", b'id,input\n1,"a"b\n', "bad_quote"),
    ("cases.csv", b"id,input\n1,caf\xe9\n", "encoding"),
    ("cases.csv", b"id,input\n1," + b"x" * (1024**2 + 1) + b"\n", "cell_too_long"),
    ("cases.csv", ",".join(f"c{n}" for n in range(1001)).encode() + b"\n", "too_many_columns"),
    ("cases.csv", b"id,input\n1,a\x00b\n", "nul_character"),
    ("cases.csv", b"id,input\n1,a\n1,b\n", "duplicate_case"),
    ("cases.csv", b"id,input\n" + b"x" * 201 + b",a\n", "id_too_long"),
    ("cases.csv", b"id,input\n,a\n", "missing_id"),
    ("cases.csv", b"id,input,output,cost_usd\n1,a,b,cheap\n", "not_a_number"),
    ("cases.csv", b"id,input,output,cost_usd\n1,a,b,-1\n", "out_of_range"),
    ("cases.csv", b"id,input,output,trial\n1,a,b,40000\n", "out_of_range"),
    ("cases.jsonl", b'{"id": 1, "input": \n', "invalid_json"),
    ("cases.jsonl", b'{"id": 1, "input": 1}\n[1]\n', "wrong_shape"),
    ("cases.jsonl", b'{"id": 1, "input": {"a": 1, "a": 2}}\n', "duplicate_key"),
    ("cases.jsonl", b'{"id": 1, "input": NaN}\n', "not_finite"),
    ("cases.jsonl", b'{"id": 1, "input": -Infinity}\n', "not_finite"),
    ("cases.jsonl", b'{"id": 1, "input": 1e999}\n', "not_finite"),
    ("cases.jsonl", b'{"id": 1, "input": ' + b"9" * 5000 + b"}\n", "number_too_long"),
    ("cases.jsonl", b'{"id": 1, "input": ' + b"[" * 80 + b"]" * 80 + b"}\n", "too_deep"),
    ("cases.jsonl", json.dumps({"id": 1, "input": {str(n): 1 for n in range(10_001)}}).encode(),
     "too_many_keys"),
    ("cases.jsonl", b'{"id": 1, "input": "\\ud800"}\n', "invalid_unicode"),
    ("cases.jsonl", b'{"id": 1, "input": "\xed\xa0\x80"}\n', "invalid_unicode"),
    ("cases.jsonl", b'{"id": 1, "input": "a\\u0000b"}\n', "nul_character"),
    ("cases.jsonl", b'{"id": 1, "input": "' + b"x" * (16 * 1024**2) + b'"}\n', "line_too_long"),
    ("cases.json", b'{"a": 1}', "wrong_shape"),
    ("cases.json", b'[{"id": 1, "input": 1}', "invalid_json"),
    ("cases.json", b"[]", "no_rows"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "code"), BAD, ids=[f"{b[0]}-{b[2]}" for b in BAD])
def test_a_bad_file_leaves_no_row_and_no_file(
    put: Put, spooled: Path, name: str, content: bytes, code: str
) -> None:
    upload = load_unchecked(put(content, name))
    assert upload.state == UploadState.FAILED
    assert [problem["code"] for problem in upload.problems] == [code]
    assert upload.problem_count == 1
    assert len(upload.problems[0]["message"]) > 20
    assert_nothing_is_left(spooled)


@pytest.mark.parametrize(("name", "content", "code"), BAD, ids=[f"{b[0]}-{b[2]}" for b in BAD])
def test_the_dry_run_finds_what_the_import_would(
    put: Put, spooled: Path, name: str, content: bytes, code: str
) -> None:
    upload = put(content, name)
    upload.state = UploadState.CHECKING
    upload.save()
    imports.check_upload(upload)
    upload.refresh_from_db()
    assert upload.state == UploadState.CHECKED
    assert [problem["code"] for problem in upload.problems] == [code]
    assert not Case.objects.exists()
    assert imports.cancel_upload(upload)
    assert_nothing_is_left(spooled)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("cases.csv", b"", "empty_file"),
        ("cases.csv", b"\xef\xbb\xbf", "empty_file"),
        ("cases.csv", b"PK\x03\x04 and so on", "type_mismatch"),
        ("cases.jsonl", b"\x89PNG\r\n", "type_mismatch"),
        ("cases.csv", b"id,input\n" + b"1,a\n" * 300_000, "too_large"),
    ],
)
def test_a_hopeless_file_is_not_even_received(
    put: Put, spooled: Path, settings: Settings, name: str, content: bytes, code: str
) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = 1024**2
    with pytest.raises(FileProblem) as raised:
        put(content, name)
    assert raised.value.code == code
    assert not Upload.objects.exists()
    assert_nothing_is_left(spooled)


def test_one_bad_row_at_the_end_of_many_stores_nothing(put: Put, spooled: Path) -> None:
    rows = "".join(f"{n},text {n}\n" for n in range(12_000))
    upload = load_unchecked(put(f"id,input\n{rows}7,again\n".encode()))
    assert upload.problems == [
        {
            "line": 12_002,
            "column": "id",
            "code": "duplicate_case",
            "message": upload.problems[0]["message"],
        }
    ]
    assert "9" in upload.problems[0]["message"]
    assert_nothing_is_left(spooled)


def test_the_first_hundred_problems_are_listed_and_all_are_counted(put: Put) -> None:
    rows = "".join(f"{n}\n" for n in range(250))
    upload = check(put(f"id,input\n0,a\n{rows}".encode()))
    assert (upload.problem_count, len(upload.problems)) == (250, 100)
    assert [problem["line"] for problem in upload.problems] == list(range(3, 103))


def test_bad_rows_may_be_left_out_and_are_counted(put: Put) -> None:
    upload = load_unchecked(put(b"id,input\n1,a\n2\n3,c\n1,d\n"), skips_bad_rows=True)
    assert upload.version is not None
    assert (upload.version.case_count, upload.version.skipped_rows) == (2, 2)
    assert [case.key for case in cases_of(upload.version)] == ["1", "3"]


def test_a_file_that_cannot_be_read_to_its_end_is_refused_even_so(put: Put, spooled: Path) -> None:
    upload = load_unchecked(put(b'id,input\n1,a\n2,"b\n'), skips_bad_rows=True)
    assert upload.state == UploadState.FAILED
    assert_nothing_is_left(spooled)


def test_the_highest_trial_is_read(put: Put) -> None:
    content = b"id,input,output,trial\n1,a,b,32767\n"
    assert load(put(content)).state == UploadState.DONE
    assert Output.objects.get().trial == reader.MAX_TRIAL


def test_more_rows_than_allowed_are_refused(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_ROWS", 3)
    assert load(put(b"id,input\n1,a\n2,b\n3,c\n")).state == UploadState.DONE
    failed = load(put(b"id,input\n1,a\n2,b\n3,c\n4,d\n", dataset_name="Other"))
    assert (failed.state, failed.problems[0]["code"]) == (UploadState.FAILED, "too_many_rows")
    assert Dataset.objects.get().name == "Answers"
    assert not list(spooled.iterdir())
