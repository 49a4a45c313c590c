"""The report on reading a file."""

from __future__ import annotations

import pytest

from scoring.core.files import FileProblem, RowProblem
from scoring.engine.imports.report import MAX_LISTED, ImportReport, RefusedError

PROBLEM = RowProblem(3, "id", "missing_id", "Line 3, column id: the id is empty.")


@pytest.mark.parametrize(
    ("skips_bad_rows", "has_problem", "is_fatal", "is_storable"),
    [
        (False, False, False, True),
        (False, True, False, False),
        (True, True, False, True),
        (True, False, True, False),
    ],
)
def test_bad_rows_may_be_skipped_but_not_a_bad_file(
    skips_bad_rows: bool, has_problem: bool, is_fatal: bool, is_storable: bool
) -> None:
    report = ImportReport(skips_bad_rows=skips_bad_rows)
    if has_problem:
        report.add(PROBLEM)
    if is_fatal:
        report.add_fatal(FileProblem("encoding", "It is not UTF-8."))
    assert report.is_storable == is_storable


def test_unmatched_keys_are_named_those_first_that_are_nearly_a_case() -> None:
    report = ImportReport()
    for key in ("a", "b", "c", "d", "e", "1"):
        report.add_unmatched(key)
    report.near_keys = {"1": "001"}
    assert report.name_unmatched() == "1 (did you mean 001?), a, b, c, d and 1 more"


def test_problems_and_unmatched_keys_beyond_the_limit_are_only_counted() -> None:
    report = ImportReport()
    for number in range(MAX_LISTED + 1):
        report.add(PROBLEM)
        report.add_unmatched(f"q{number}")
    assert (report.problem_count, len(report.problems)) == (MAX_LISTED + 1, MAX_LISTED)
    assert (report.unmatched_count, len(report.unmatched)) == (MAX_LISTED + 1, MAX_LISTED)
    assert str(RefusedError(report)).startswith("101 problems; the first: Line 3")
    assert report.listed_problems()[0]["message"] == "The id is empty."
