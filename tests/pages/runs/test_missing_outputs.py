"""The run page says which cases have no output, and leads to all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]


def words(answer: object) -> str:
    return " ".join(answer.content.decode().split())  # type: ignore[attr-defined]


@pytest.fixture
def partial(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """Nine cases, the last seven without an output."""
    version = make_dataset([{"key": f"q{n}", "expected": "1"} for n in range(9)])
    outputs = make_outputs(version, ["1"] * 9)
    outputs.outputs.filter(case__position__gt=2).delete()
    return outputs


@pytest.fixture
def run(partial: OutputSet) -> Run:
    return finished_run(partial)


def test_the_run_page_counts_and_names_them(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = words(browser_of(bob).get(reverse("run", args=[run.uuid])))
    listed = reverse("run_missing_outputs", args=[run.uuid])
    assert f'<a href="{listed}">7 cases of the dataset version</a> have no output: ' in page
    assert '<span class="id">q2</span>, <span class="id">q3</span>, ' in page
    assert "</span> and 2 more." in page
    assert "2 / 9" in page
    assert "2 cases, 7 more without an output" in page


def test_a_whole_run_says_nothing_of_it(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    run = finished_run(make_outputs(make_dataset([{"expected": "1"}]), ["1"]))
    browser = browser_of(bob)
    assert "no output" not in words(browser.get(reverse("run", args=[run.uuid])))
    page = words(browser.get(reverse("run_missing_outputs", args=[run.uuid])))
    assert "Every case of the dataset version has an output in this run." in page


def test_the_list_leads_to_the_case_and_to_its_output_in_the_baseline(
    browser_of: BrowserOf, bob: User, partial: OutputSet, run: Run
) -> None:
    earlier = run_with(partial.version, {"other": [1.0] * 8}, leaves_out=[8])
    earlier.output_set.dated = partial.dated.replace(year=2020)
    earlier.output_set.save()
    browser = browser_of(bob)
    page = browser.get(reverse("run_missing_outputs", args=[run.uuid]))
    rows = page.context["rows"]
    assert [row.case.key for row in rows] == [f"q{n}" for n in range(2, 9)]
    assert [bool(row.baseline_url) for row in rows] == [True] * 6 + [False]
    assert browser.get(rows[0].url).status_code == 200
    beside = words(browser.get(rows[0].baseline_url))
    assert f"{run.name} has no output for this case." in beside


def test_a_stranger_gets_404(browser_of: BrowserOf, charlie: User, run: Run) -> None:
    address = reverse("run_missing_outputs", args=[run.uuid])
    assert browser_of(charlie).get(address).status_code == 404


@pytest.mark.sqlite
def test_the_list_finds_cases_of_the_baseline_by_their_keys(
    browser_of: BrowserOf, bob: User, partial: OutputSet, run: Run
) -> None:
    """Not by going through all outputs of the baseline, which took a quarter of a second."""
    earlier = run_with(partial.version, {"close": [1] * 9}, name="w45")
    earlier.output_set.dated = partial.dated.replace(year=2020)
    earlier.output_set.save()
    address = reverse("run_missing_outputs", args=[run.uuid])
    with CaptureQueriesContext(connection) as captured:
        browser_of(bob).get(address)
    (sql,) = [query["sql"] for query in captured if '"key" IN' in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        plan = " ".join(row[-1] for row in cursor.fetchall())
    assert "(version_id=? AND key=?)" in plan
