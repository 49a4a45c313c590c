"""The report of a comparison: sentences, figures, charts, and the cases that flipped."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.core.wording.numbers import MINUS
from scoring.engine.compare.comparison import compute_figures
from scoring.engine.reports.comparison_report import comparison_file_name, comparison_report
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, Output, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.html import on_one_line
from tests.support.payloads import MARKUP
from tests.support.report_html import HandedOut, sound
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

COUNT = 12
BEFORE = [1.0] * 10 + [0.2, 0.3]
AFTER = [0.1, 0.4] + [1.0] * 9 + [0.3]  # q0 and q1 broke, q10 was fixed


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    cases = [
        {"key": f"q{n}", "input": f"Question {n}", "expected": "on time", "tags": ["all", "<b>"]}
        for n in range(COUNT)
    ]
    return make_dataset(cases)


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    flat = [0.9] * COUNT
    old = run_with(version, {"close": BEFORE, "flat": flat}, name="w45")
    new = run_with(version, {"close": AFTER, "flat": flat}, name="w46")
    for run, text in ((old, "paid on Monday"), (new, "paid on Tuesday")):
        Output.objects.filter(output_set=run.output_set).update(text=text)
    return old, new


def report(*runs: Run, address: str = "") -> str:
    baseline, *candidates = runs
    told = [(run, compute_figures(baseline, run)) for run in candidates]
    return comparison_report(baseline, told, address=address)


def found(*runs: Run) -> HandedOut:
    return sound(report(*runs))


def test_it_says_what_the_page_says(runs: tuple[Run, Run]) -> None:
    text = found(*runs).text
    figures = compute_figures(*runs)
    for told in (
        "Answers / w46 compared with w45",
        figures.sentence,
        *(each.sentence for each in figures.scorers),
        "12 cases in both runs, matched by key: 2 broke, 1 fixed, 9 unchanged.",
        "0.875 → 0.817",
        "are corrected together by Holm",
        "Intervals and p of close, flat: every sign flip counted, bootstrap interval.",
        "By tag",
    ):
        assert told in text, told


def test_a_case_says_what_was_expected(make_dataset: MakeDataset) -> None:
    cases = [{"key": "q0", "expected": "on time"}, {"key": "q1"}]
    version = make_dataset(cases)
    runs = [run_with(version, {"close": [1.0 - n, 1.0 - n]}, name=f"w{n}") for n in range(2)]
    with_one, without = report(*runs).split('<details class="report-case">')[1:]
    assert "nothing is expected" not in with_one
    assert "on time" in with_one.partition("<h5>Expected</h5>")[2].partition("<h5>")[0]
    assert "nothing is expected" in without


def test_cases_that_flipped_stand_side_by_side(runs: tuple[Run, Run]) -> None:
    text = report(*runs)
    assert "2 of 2 shown" in sound(text).text
    assert "1 of 1 shown" in sound(text).text
    assert text.count("paid on <del>Mon</del><ins>Tues</ins>day") == 3
    assert on_one_line(text).count('<div class="output diff">paid on Monday</div>') == 3
    words = sound(text).text
    assert [key for key in (f"q{n}" for n in range(COUNT)) if f"{key} Question" in words] == [
        "q0",
        "q1",
        "q10",
    ]
    assert f"close 1.00 → 0.10 {MINUS}0.90" in words


def test_of_several_trials_the_mean_score_stands_there(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    once = run_with(version, {"close": [1.0, 1.0]}, name="once")
    scores: list[Given] = [0.5, 0.1, "error", "error", "error", "error"]
    thrice = run_with(version, {"close": scores}, trials=3, name="thrice")
    words = sound(report(once, thrice)).text
    assert f"close 1.00 → 0.30 {MINUS}0.70" in words


def test_charts_are_drawn_of_what_moved_and_lead_nowhere(runs: tuple[Run, Run]) -> None:
    words = found(*runs)
    assert "Scores of close" in words.text
    assert "Scores of flat" not in words.text
    assert words.elements["circle"] == 5
    assert words.addresses == []
    assert "link" not in words.text


def test_warnings_are_at_the_top(version: DatasetVersion, runs: tuple[Run, Run]) -> None:
    other = run_with(version, {"close": AFTER}, name="w47", thresholds={"close": 0.8})
    text = found(runs[0], other).text
    assert "close: the threshold was 0.5 and then 0.8" in text
    assert "v1 at 0.5 → 0.8" in text
    assert "Only the baseline has flat" in text
    assert text.index("threshold was") < text.index("Scorers")


def test_of_several_candidates_warnings_and_unclear_cases_stand_at_the_top(
    version: DatasetVersion, runs: tuple[Run, Run]
) -> None:
    errors: list[Given] = ["error", *AFTER[1:]]
    other = run_with(version, {"close": errors}, name="w47", thresholds={"close": 0.8})
    top = found(*runs, other).text.partition("What the")[0].partition("w46 compared with")[0]
    assert "w47 · close: the threshold was 0.5 and then 0.8" in top
    assert "Broke Fixed Inconclusive Only in one" in top
    assert "w46 12 2 1 0 0 close" in top
    assert "w47 12 1 1 1 0 close" in top
    assert re.search(r"\] p = [01]\.\d{3} flat", top)


def test_cases_of_one_run_alone_are_counted(version: DatasetVersion, runs: tuple[Run, Run]) -> None:
    fewer = run_with(version, {"close": AFTER[1:]}, name="w47", leaves_out=[0])
    assert "1 only in the baseline." in found(runs[0], fewer).text


def test_cases_that_no_run_judged_are_not_counted_as_unchanged(version: DatasetVersion) -> None:
    errors: list[list[Given]] = [["error", "error"], ["skip", 1.0]]
    old, new = (run_with(version, {"close": [*side, *BEFORE[2:]]}) for side in errors)
    text = found(old, new).text
    assert (
        "10 unchanged, 1 with an error or a skip on one side, 1 not scored in either run." in text
    )


def test_several_candidates_have_a_row_and_a_part_each(
    version: DatasetVersion, runs: tuple[Run, Run]
) -> None:
    third = run_with(version, {"close": BEFORE}, name="w47")
    words = found(*runs, third)
    assert "Answers / 2 runs compared with w45" in words.text
    assert "All runs vs. the baseline" in words.text
    assert words.addresses == ["#run-1", "#run-2"]
    assert {"run-1", "run-2"} <= set(words.ids)
    assert words.elements["article"] == 2
    assert "no case" in words.text


def test_long_lists_say_how_many_they_show(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"k{n:03}"} for n in range(120)])
    old = run_with(version, {"close": [1.0] * 120}, name="old")
    new = run_with(version, {"close": [0.0] * 120}, name="new")
    assert "100 of 120 shown" in found(old, new).text
    ten = found(old, *[new] * 10)
    assert ten.text.count("10 of 120 shown") == 10


def test_the_number_of_queries_does_not_grow_with_the_cases(make_dataset: MakeDataset) -> None:
    def queries(count: int) -> int:
        version = make_dataset([{"key": f"k{n}"} for n in range(count + 1)])
        old = run_with(version, {"close": [1.0] * count + [0.0]}, name="old")
        new = run_with(version, {"close": [0.0] * count + [1.0]}, name="new")
        told = [(new, compute_figures(old, new))]
        with CaptureQueriesContext(connection) as captured:
            comparison_report(old, told)
        return len(captured)

    assert queries(1) == queries(60) <= 10


def test_a_case_without_an_output_on_one_side_is_told(runs: tuple[Run, Run]) -> None:
    Output.objects.filter(output_set=runs[1].output_set, case__key="q0").update(text=None)
    assert "no output is stored" in found(*runs).text


def test_an_edited_case_is_marked_and_shown_as_it_is_now(
    make_dataset: MakeDataset, runs: tuple[Run, Run]
) -> None:
    edited = [{"key": f"q{n}", "input": f"New {n}", "expected": "x"} for n in range(COUNT)]
    new = run_with(make_dataset(edited), {"close": AFTER}, name="w47")
    text = found(runs[0], new).text
    assert "12 edited" in text
    assert "New 0" in text
    assert "Question 0" not in text


def test_the_address_stands_in_it_where_it_is_known(runs: tuple[Run, Run]) -> None:
    address = "http://testserver/teams/support/compare/?a=1&b=2"
    assert sound(report(*runs, address=address)).addresses == [address]


def test_files_are_named_after_the_runs(runs: tuple[Run, Run]) -> None:
    old, new = runs
    assert comparison_file_name(old, [new]) == "answers-w46-compared-with-w45.html"
    assert comparison_file_name(old, [new, new]) == "answers-2-runs-compared-with-w45.html"


@pytest.mark.parametrize("text", MARKUP)
def test_no_text_becomes_part_of_the_file(make_dataset: MakeDataset, text: str) -> None:
    cases = [
        {"key": f"{n} {text[:100]}", "input": text, "expected": text[:50], "tags": [text[:60]]}
        for n in range(6)
    ]
    version = make_dataset(cases, MARKUP[1])
    name = text[:100] if text.isprintable() else "plain"
    old = run_with(version, {name: [1.0] * 6}, name=name, series=name)
    new = run_with(version, {name: [0.0] * 6}, name=name, series=name)
    for run, said in ((old, text), (new, f"not {text}")):
        Output.objects.filter(output_set=run.output_set).update(text=said)
    written = report(old, new)
    words = sound(written)
    assert words.elements["details"] == 6 + 1  # the charts' tables
    assert "\u200b" not in written


def test_a_relabelled_run_is_named_and_compared_as_scored(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    old, new = (
        suite_run(version, {"close": scores}, name=name)
        for name, scores in (("w45", [0.9, 0.9]), ("w46", [0.9, 0.4]))
    )
    assert "re-labelled" not in found(old, new).text
    entry_of().change_threshold(0.3, by=None, reason="x")
    relabel_run(new, by=None)
    text = found(old, new).text
    assert "w46 is re-labelled with close 0.3; this comparison uses its verdicts as scored." in text
    assert "1 broke" in text
