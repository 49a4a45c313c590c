"""Figures of a calibration, and the cases behind each number."""

from __future__ import annotations

import pytest

from evalsite.pages.calibration.figures import calibration_figures, left_out_counts
from scoring.engine.calibration.scorers import calibrate_run
from scoring.models import Run, User
from tests.pages.runs.steps import BrowserOf, keys
from tests.support.reviewed_runs import draw_sample, outputs_of


def test_each_cell_of_the_confusion_table_leads_to_its_cases(
    browser_of: BrowserOf, bob: User, reviewed: Run
) -> None:
    calibration = calibrate_run(reviewed, reviewed.scorers.with_summary())
    close = calibration_figures(calibration)[0]
    found = {
        (row.scorer, cell.people): keys(browser_of(bob).get(cell.url))
        for row in close.confusion
        for cell in row.cells
    }
    assert found == {
        ("pass", "pass"): ["case-1", "case-2", "case-3"],
        ("pass", "fail"): ["case-4"],
        ("fail", "pass"): [],
        ("fail", "fail"): ["case-5", "case-6"],
    }
    assert next(iter(found)) == ("pass", "fail")  # the dangerous ones first
    numbers = [cell.number for row in close.confusion for cell in row.cells]
    assert numbers == [len(cases) for cases in found.values()]
    cells = [cell for row in close.confusion for cell in row.cells]
    assert [cell.is_agreed for cell in cells] == [False, True, True, False]
    assert [cell.is_missed for cell in cells] == [True, False, False, False]


def test_what_is_left_out_leads_to_its_cases(
    browser_of: BrowserOf, bob: User, reviewed: Run
) -> None:
    counts = left_out_counts(calibrate_run(reviewed, []))
    assert [(each.number, each.text) for each in counts] == [
        (1, "unsure"),
        (1, "bad case"),
        (1, "tied"),
    ]
    listed = [keys(browser_of(bob).get(each.url)) for each in counts]
    assert listed == [["case-7"], ["case-8"], ["case-9"]]


def test_the_scorer_that_agrees_best_is_marked(reviewed: Run) -> None:
    figures = calibration_figures(calibrate_run(reviewed, reviewed.scorers.with_summary()))
    assert [(figure.is_best, figure.is_as_good) for figure in figures] == [
        (True, False),
        (False, True),
    ]


def test_rates_are_those_of_the_run(reviewed: Run) -> None:
    draw_sample(outputs_of(reviewed)[:6])
    figure, _ = calibration_figures(calibrate_run(reviewed, reviewed.scorers.with_summary()))
    assert figure.pass_rate is not None
    assert figure.pass_rate.value == pytest.approx(4 / 12)
    assert figure.corrected is not None
    assert figure.corrected.others == (0, 6)
    assert figure.advice.startswith("Review at least 44 more outputs")


def test_without_a_sample_there_is_no_advice(reviewed: Run) -> None:
    figure, _ = calibration_figures(calibrate_run(reviewed, reviewed.scorers.with_summary()))
    assert (figure.corrected, figure.advice) == (None, "")
