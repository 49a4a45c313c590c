"""Exported reviews are read back as they were, in every format."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from scoring.engine.review.feedback import give_review
from scoring.engine.review.review_export import review_sheet
from scoring.engine.review.review_import import import_review_file, import_reviews
from scoring.models import Output, Review, ReviewVerdict, Run, User


@pytest.fixture
def reviewed(run: Run, rita: User) -> Run:
    """One review by hand and one that was imported, the later case first."""
    second = Output.objects.get(output_set=run.output_set, case__key="case-2")
    give_review(
        run, second, ReviewVerdict.BAD_CASE, by=rita, note="=1+1\nsecond", failure_tags=["a,b"]
    )
    row = {"key": "case-1", "reviewer": "Jo", "verdict": "fail", "score": 0.1}
    import_reviews(run, [row | {"date": "2026-11-20T09:30:00.123456Z"}], by=None)
    return run


def exported(run: Run, file_format: str) -> bytes:
    return b"".join(review_sheet(run, Review.objects.of_run(run)).stream(file_format))


def test_rows_come_in_the_order_of_cases(reviewed: Run) -> None:
    *lines, last = exported(reviewed, "jsonl").decode().splitlines()
    first, second = map(json.loads, lines)
    assert first == {
        "key": "case-1",
        "trial": 0,
        "reviewer": "Jo",
        "verdict": "fail",
        "score": 0.1,
        "note": "",
        "failure_tags": [],
        "answers": {},
        "date": "2026-11-20T09:30:00.123456+00:00",
    }
    assert (second["reviewer"], second["verdict"]) == ("rita@example.org", "bad_case")
    assert last == '{"_rows": 2}'


def test_csv_marks_formulas(reviewed: Run) -> None:
    assert b"\"'=1+1\n" in exported(reviewed, "csv")


@pytest.mark.parametrize("file_format", ["csv", "json", "jsonl"])
def test_its_own_import_reads_it_back(reviewed: Run, file_format: str) -> None:
    Review.objects.update(answers={"Tone v1": {"Polite?": ["a,b"], "Points": 2.5, "More": "=1"}})
    content = exported(reviewed, file_format)
    name = f"reviews.{file_format}"
    again = import_review_file(reviewed, BytesIO(content), name, by=None)
    assert (again.unchanged, again.row_count) == (2, 2)
    said = ("note", "failure_tags", "answers")
    before = list(Review.objects.order_by("reviewer_name").values_list(*said))
    Review.objects.all().delete()
    assert import_review_file(reviewed, BytesIO(content), name, by=None).created == 2
    after = list(Review.objects.order_by("reviewer_name").values_list(*said))
    assert after == before


def test_a_sheet_knows_its_name_and_its_rows(reviewed: Run) -> None:
    sheet = review_sheet(reviewed, Review.objects.of_run(reviewed))
    assert (sheet.file_name("csv"), sheet.count) == ("Answers-w46-reviews.csv", 2)
