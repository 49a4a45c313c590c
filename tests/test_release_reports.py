"""Who gets the release report of a run."""

from __future__ import annotations

import pytest

from evalsite.release_reports import ReportRefusedError, find_report_baseline, report_response
from scoring.engine.reports.release_report import ReportFile
from scoring.engine.review.feedback import give_review
from scoring.models import ReviewVerdict, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abc"])
    return run_with(version, {"close": [1.0] * 3}), run_with(version, {"close": [0, 0, 1.0]})


def test_a_finished_run_with_a_baseline_has_one(runs: tuple[Run, Run], alice: User) -> None:
    assert find_report_baseline(alice, runs[1]) == runs[0]


@pytest.mark.parametrize("side", [0, 1])
def test_whoever_is_yet_to_review_gets_none(
    runs: tuple[Run, Run], alice: User, bob: User, side: int
) -> None:
    task = ask_to_review(runs[side], alice, "a")
    with pytest.raises(ReportRefusedError, match="review 1 case first") as refused:
        find_report_baseline(alice, runs[1])
    assert refused.value.code == "not_reviewed_yet"
    assert find_report_baseline(bob, runs[1]) == runs[0]
    give_review(runs[side], task.output, ReviewVerdict.FAIL, by=alice)
    assert find_report_baseline(alice, runs[1]) == runs[0]


def test_there_is_none_without_a_baseline_or_an_end(runs: tuple[Run, Run], alice: User) -> None:
    with pytest.raises(ReportRefusedError, match="needs a baseline") as refused:
        find_report_baseline(alice, runs[0])
    assert refused.value.code == "no_baseline"
    runs[1].state = RunState.CANCELLED
    with pytest.raises(ReportRefusedError, match="needs a finished run") as refused:
        find_report_baseline(alice, runs[1])
    assert refused.value.code == "run_unfinished"


def test_the_file_is_an_attachment_that_nobody_keeps() -> None:
    answer = report_response(ReportFile("w46.json", b"{}", "application/json"))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="w46.json"'
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert (answer.content, answer.headers["Content-Type"]) == (b"{}", "application/json")
