"""Several runs beside one baseline as a table, and what a row shows of two answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.compare.table import MAX_COLUMNS
from scoring.engine.compare.claims import correct_claims
from scoring.engine.compare.comparison import compute_figures
from scoring.models import DatasetVersion, Output, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with

BrowserOf = Callable[[User], Client]

HIGH: list[Given] = [0.9] * 12
LOW: list[Given] = [0.1] * 12


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n:02}", "input": f"Question {n}"} for n in range(12)])


def page_of(browser: Client, *runs: Run) -> str:
    named = [("baseline", runs[0].uuid), *(("candidate", run.uuid) for run in runs[1:])]
    path = reverse("compare", args=[runs[0].team.slug])
    return " ".join(unescape(browser.get(f"{path}?{urlencode(named)}").text).split())


def table_of(page: str) -> list[list[str]]:
    """The words of each cell of the first table, row by row."""
    rows = re.findall(r"<tr>.*?</tr>", page.partition("</table>")[0])
    cells = (re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in rows)
    return [[" ".join(re.sub(r"</?[a-z].*?>", " ", cell).split()) for cell in row] for row in cells]


def test_every_scorer_of_any_run_has_a_column(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    old = run_with(version, {"close": HIGH, "far": HIGH}, name="w45")
    less = run_with(version, {"close": LOW}, name="w46")
    other = run_with(version, {"far": HIGH, "new": HIGH}, name="w47")
    head, *rows = table_of(page_of(browser_of(bob), old, less, other))
    assert head == ["Run", "Pairs", "Broke", "Fixed", "Inconclusive", "Only in one", "close", "far"]
    close = "● statistically significant: \N{MINUS SIGN}0.800"
    low, high = "[\N{MINUS SIGN}0.800", "\N{MINUS SIGN}0.800]"
    assert rows == [
        ["w46", "12", "12", "0", "0", "0", f"{close} {low}, {high} p = 0.003", "\N{EN DASH}"],
        ["w47", "12", "0", "0", "0", "0", "\N{EN DASH}", "0 [0, 0] p = 1.000"],
    ]


def test_a_run_whose_cases_turned_into_errors_does_not_look_unchanged(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    old, same = (run_with(version, {"close": HIGH}, name=name) for name in ("w45", "w46"))
    errors: list[Given] = ["error", "skip", *HIGH[2:]]
    page = page_of(browser_of(bob), old, same, run_with(version, {"close": errors}, name="w47"))
    assert [row[4] for row in table_of(page)] == ["Inconclusive", "0", "2"]
    assert "Inconclusive cases have an error or a skip in one of the two runs." in page
    said = "None of 12 cases broke or was fixed; 2 passed before but could not be judged now"
    assert f"<li><b>w47</b>: {said}" in page


def test_each_run_has_its_sentence_over_the_table(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    old, less, same = (
        run_with(version, {"close": scores}, name=name)
        for name, scores in (("w45", HIGH), ("w46", LOW), ("w47", HIGH))
    )
    above = page_of(browser_of(bob), old, less, same).partition("<table")[0]
    for run, each in zip(
        (less, same),
        correct_claims([compute_figures(old, run) for run in (less, same)]),
        strict=True,
    ):
        assert f"<li><b>{run.name}</b>: {each.sentence}</li>" in above


def test_what_makes_runs_less_alike_stands_over_the_table_for_each_of_them(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    old = run_with(version, {"close": HIGH, "far": HIGH}, name="w45")
    close = {"close": 0.7}
    less = run_with(version, {"close": HIGH, "far": HIGH}, name="w46", thresholds=close)
    least = run_with(version, {"close": HIGH}, name="w47", thresholds=close)
    above, _, below = page_of(browser_of(bob), old, less, least).partition("<table")
    assert above.count("notice-warning") == 1
    notes = re.findall(r"<li> <b>(.*?)</b> · (.*?) </li>", above)
    assert notes == [
        ("All 2 runs", compute_figures(old, less).warnings[0]),
        ("w47", compute_figures(old, least).warnings[1]),
    ]
    assert not any(text in below for _, text in notes)


def test_runs_alike_have_no_notice(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    runs = [run_with(version, {"close": HIGH}, name=name) for name in ("w45", "w46", "w47")]
    assert "notice-warning" not in page_of(browser_of(bob), *runs)


def test_runs_without_a_scorer_in_common_are_still_in_the_table(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    old = run_with(version, {"close": HIGH}, name="w45")
    others = [run_with(version, {name: HIGH}, name=name) for name in ("new", "newer")]
    rows = table_of(page_of(browser_of(bob), old, *others))[1:]
    assert [row[0] for row in rows] == ["new", "newer"]
    assert {row[-1] for row in rows} == {"no scorer in common"}


def test_scorers_beyond_the_room_are_counted(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    many = {f"s{n}": HIGH for n in range(MAX_COLUMNS + 2)}
    runs = [run_with(version, many, name=name) for name in ("w45", "w46", "w47")]
    page = page_of(browser_of(bob), *runs)
    assert len(table_of(page)[0]) == 6 + MAX_COLUMNS
    assert "2 more scorers stand on the page of each run." in page


def test_a_row_shows_both_answers_from_where_they_differ(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    start = "The same words at the start of every answer, " * 5
    pair = [run_with(version, {"close": HIGH}, name=name) for name in ("w45", "w46")]
    for run, day in zip(pair, ("Monday", "Tuesday"), strict=True):
        Output.objects.filter(output_set=run.output_set).update(text=f"{start}{day}.\u200b")
    page = page_of(browser_of(bob), *pair)
    for day in ("Monday", "Tuesday"):
        shown = f"…f every answer, <mark>{day}</mark>."
        assert shown in page
    assert page.count("U+200B") >= 24


def test_equal_answers_and_missing_ones_have_no_mark(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    pair = [run_with(version, {"close": HIGH}, name=name) for name in ("w45", "w46")]
    first = Output.objects.filter(output_set=pair[0].output_set).order_by("pk")[0]
    Output.objects.filter(pk=first.pk).update(text=None, error="timeout")
    page = page_of(browser_of(bob), *pair)
    assert "no output: timeout" in page
    assert "<mark>" not in page
