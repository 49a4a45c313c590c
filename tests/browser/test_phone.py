"""A window 360 pixels wide: a row of a table is two lines, and nothing sticks out of the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from scoring.models import DatasetVersion, Output, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.run_states import CLOSE, EXACT, finished_run

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
LINE = 20  # pixels, about
TWO_LINES = 64  # pixels, with the air around them; a third line would make it 70
ROW_HEIGHTS = "rows => rows.map(row => row.getBoundingClientRect().height)"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Three scorers with names too long to stand beside each other; one output failed."""
    case = {"expected": "on Monday", "input": "When was it? " * 20, "tags": ["time", "x" * 80]}
    cases = [case | {"key": f"a rather long key, number {n}"} for n in range(4)]
    outputs = make_outputs(make_dataset(cases), ["on Monday", "on Tuesday", None, ""])
    Output.objects.filter(text=None).update(error="Timeout " * 20)
    scorers = [(f"{name} as seen by its reader", *rest) for name, *rest in (CLOSE, EXACT)]
    return finished_run(outputs, *scorers, ("leaves of the value", "json_similarity", {}))


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "NO-2402", "input": "When was it? " * 20, "expected": "x"}])


def test_a_row_of_every_list_is_two_lines(
    page: Page, sign_in: SignIn, alice: User, run: Run
) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    sign_in(alice)
    team, dataset = run.team.slug, run.output_set.version.dataset.uuid
    for shown, lists in (
        (reverse("team_home", args=[team]), "main"),
        (reverse("datasets", args=[team]), "main"),
        (reverse("runs", args=[team]), "main"),
        (reverse("scorers", args=[team]), "main"),
        (reverse("dataset", args=[dataset]), "#cases"),
        (reverse("dataset_outputs", args=[dataset]), "main"),
        (reverse("run", args=[run.uuid]), "#cases"),
    ):
        page.goto(shown)
        heights = page.locator(f"{lists} tbody tr").evaluate_all(ROW_HEIGHTS)
        assert heights, shown
        assert max(heights) < TWO_LINES, shown


def test_a_case_that_broke_keeps_its_key_on_the_first_line(
    page: Page, sign_in: SignIn, alice: User, version: DatasetVersion
) -> None:
    before, now = (run_with(version, {"close": [score]}) for score in (0.9, 0.1))
    page.set_viewport_size({"width": 360, "height": 800})
    sign_in(alice)
    page.goto(f"{reverse('run', args=[now.uuid])}?against={before.uuid}")
    row = page.locator("#cases tbody tr").first
    key, tick, broke = (
        box["y"] + box["height"] / 2
        for part in (row.locator(".id"), row.get_by_role("checkbox"), row.get_by_text("broke"))
        if (box := part.bounding_box())
    )
    assert abs(key - tick) < LINE / 2
    assert broke > key + LINE / 2


def test_a_long_tag_stays_inside_the_page(
    page: Page, sign_in: SignIn, alice: User, run: Run
) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    sign_in(alice)
    for name, holder in (("run_case", run), ("dataset_case", run.output_set.version.dataset)):
        page.goto(reverse(name, args=[holder.uuid, 1]))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
