"""A file that is sent while it is written: its type, its name, and how many rows are to come."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from evalsite.downloads import stream_file
from scoring.engine.export import ExportTable

ROWS = [{"key": "a"}, {"key": "=1"}]
SHEET = ExportTable("Größe v1", 2, ["key"], lambda: iter(ROWS), lambda row: [row["key"]])
MARKED = '"key","_marked"\r\n"a",""\r\n"\'=1","[""key""]"\r\n'


@pytest.mark.parametrize(
    ("file_format", "is_verbatim", "content_type", "body"),
    [
        ("csv", False, "text/csv; charset=utf-8", MARKED),
        ("csv", True, "text/csv; charset=utf-8", "key\r\na\r\n=1\r\n"),
        ("jsonl", False, "application/x-ndjson", '{"key":"a"}\n{"key":"=1"}\n{"_rows": 2}\n'),
    ],
)
def test_it_says_what_it_is(
    rf: RequestFactory, file_format: str, is_verbatim: bool, content_type: str, body: str
) -> None:
    answer = stream_file(rf.get("/"), SHEET, file_format, is_verbatim=is_verbatim)
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["X-Row-Count"] == "2"
    assert answer.headers["Cache-Control"] == "private, no-store"
    name = f"attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe-v1.{file_format}"
    assert answer.headers["Content-Disposition"] == name
    assert answer.getvalue().decode().removeprefix("\ufeff") == body


def test_asking_for_the_head_reads_nothing(rf: RequestFactory) -> None:
    answer = stream_file(rf.head("/"), SHEET, "csv")
    assert (answer.getvalue(), answer.headers["X-Row-Count"]) == (b"", "2")
