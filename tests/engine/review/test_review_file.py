"""Files of reviews are read row by row, and what is wrong is named by line and column."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from typing import Any

import pytest

from scoring.core.files import FileProblem, Notes, Row, RowProblem
from scoring.engine.review import review_file
from scoring.engine.review.review_file import ReviewRow, read_review, read_reviews
from scoring.models import ReviewVerdict


def read(text: str | bytes, name: str, reviewer: str = "") -> list[ReviewRow | RowProblem]:
    content = text.encode() if isinstance(text, str) else text
    return list(read_reviews(BytesIO(content), name, Notes(), reviewer))


def row_of(**fields: Any) -> ReviewRow | RowProblem:
    return read_review(Row(3, {"key": "q1", "verdict": "pass", "reviewer": "Jo"} | fields))


JO = ReviewRow(2, "q1", 0, "Jo", ReviewVerdict.PASS, None, "", [], {}, None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "key,reviewer,verdict\nq1,Jo,pass\n"),
        ("a.csv", "Key;Reviewer;Label\nq1;Jo;1\n"),
        ("a.tsv", "id\tannotator\tverdict\nq1\tJo\ttrue\n"),
        ("a.jsonl", '\n{"key": "q1", "reviewer": "Jo", "verdict": true}\n{"_rows": 1}\n'),
        ("a.json", '[\n{"key": "q1", "reviewer": "Jo", "verdict": 1, "score": null}]'),
    ],
)
def test_every_format_says_the_same(name: str, text: str) -> None:
    assert read(text, name) == [JO]
    assert read(gzip.compress(text.encode()), f"{name}.gz") == [JO]


def test_all_fields() -> None:
    fields = {
        "key": "q1",
        "trial": 2,
        "reviewer": " Jo ",
        "verdict": "Bad case",
        "score": 0.25,
        "note": " as it is ",
        "failure_tags": ["tone", "tone", " facts "],
        "answers": {"polite": "yes"},
        "date": "2026-11-20T09:30:00+01:00",
    }
    moment = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
    expected = ReviewRow(
        *(1, "q1", 2, "Jo", ReviewVerdict.BAD_CASE, 0.25, " as it is ", ["tone", "facts"]),
        *({"": {"polite": "yes"}}, moment),
    )
    assert read(json.dumps(fields), "a.jsonl") == [expected]


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        *(("pass", "PASS"), ("FAIL", "FAIL"), ("unsure", "UNSURE"), ("bad-case", "BAD_CASE")),
        *((1, "PASS"), (0, "FAIL"), (True, "PASS"), (False, "FAIL"), ("1.0", "PASS")),
        *(("0", "FAIL"), ("True", "PASS"), (0.0, "FAIL")),
    ],
)
def test_words_of_verdicts(written: Any, verdict: str) -> None:
    row = row_of(verdict=written)
    assert isinstance(row, ReviewRow)
    assert row.verdict == ReviewVerdict[verdict]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20 09:30", datetime(2026, 11, 20, 9, 30, tzinfo=UTC)),
        (
            "2026-11-20T09:30-05:00",
            datetime(2026, 11, 20, 9, 30, tzinfo=timezone(timedelta(hours=-5))),
        ),
        ("", None),
        (None, None),
    ],
)
def test_dates_are_iso_8601(written: Any, moment: datetime | None) -> None:
    row = row_of(date=written)
    assert isinstance(row, ReviewRow)
    assert row.date == moment


@pytest.mark.parametrize(
    ("fields", "column", "code"),
    [
        ({"key": " "}, "key", "missing_id"),
        ({"key": "x" * 5000}, "key", "cell_too_long"),
        ({"verdict": ""}, "verdict", "missing_verdict"),
        ({"verdict": "great"}, "verdict", "unknown_verdict"),
        ({"verdict": 2}, "verdict", "unknown_verdict"),
        ({"verdict": None, "label": "pass"}, "verdict", "missing_verdict"),
        ({"reviewer": None}, "reviewer", "missing_reviewer"),
        ({"reviewer": "x" * 255}, "reviewer", "cell_too_long"),
        ({"reviewer": ["Jo"]}, "reviewer", "type_mismatch"),
        ({"trial": -1}, "trial", "out_of_range"),
        ({"trial": 1.5}, "trial", "out_of_range"),
        ({"trial": 40_000}, "trial", "out_of_range"),
        ({"score": 1.01}, "score", "out_of_range"),
        ({"score": "high"}, "score", "not_a_number"),
        ({"note": "x" * 10_001}, "note", "cell_too_long"),
        ({"note": {}}, "note", "type_mismatch"),
        ({"failure_tags": [1]}, "failure_tags", "type_mismatch"),
        ({"failure_tags": "[1"}, "failure_tags", "invalid_json"),
        ({"failure_tags": ["x" * 41]}, "failure_tags", "cell_too_long"),
        ({"failure_tags": [str(n) for n in range(21)]}, "failure_tags", "too_many_tags"),
        ({"date": "yesterday"}, "date", "invalid_date"),
        ({"date": "0001-01-01T00:00+14:00"}, "date", "invalid_date"),
    ],
)
def test_problems_have_line_column_and_code(fields: Any, column: str, code: str) -> None:
    problem = row_of(**fields)
    assert isinstance(problem, RowProblem)
    assert (problem.line, problem.column, problem.code) == (3, column, code)
    assert problem.message.startswith(f"Line 3, column {column}: ")
    assert problem.short_message[0].isupper() or problem.short_message[0] == "“"


def test_the_default_reviewer_gave_rows_that_name_nobody() -> None:
    rows = read("key,reviewer,verdict\nq1,,1\nq2,Mo,1\n", "a.csv", "Jo")
    assert [row.reviewer for row in rows if isinstance(row, ReviewRow)] == ["Jo", "Mo"]


def test_marks_of_formulas_are_taken_off() -> None:
    text = 'key,reviewer,verdict,note,_marked\nq1,Jo,1,\'=1+1,"[""note""]"\n'
    [row] = read(text, "a.csv")
    assert isinstance(row, ReviewRow)
    assert row.note == "=1+1"


@pytest.mark.parametrize(
    ("text", "column"), [("key,reviewer\nq1,Jo\n", "verdict"), ("verdict\n1\n", "key")]
)
def test_a_file_without_keys_or_verdicts_is_refused(text: str, column: str) -> None:
    with pytest.raises(FileProblem) as caught:
        read(text, "a.csv")
    assert (caught.value.code, caught.value.column) == ("missing_column", column)


def test_a_file_with_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_file, "MAX_ROWS", 1)
    with pytest.raises(FileProblem, match="more than 1 rows"):
        read("key,reviewer,verdict\nq1,Jo,1\nq2,Jo,1\n", "a.csv")
