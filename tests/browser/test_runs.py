"""Runs and cases in a real browser: swaps, keys, live progress, hostile texts."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.summaries import summarize_run
from scoring.models import OutputSet, Run, RunState, Scorer, Suite, User
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.payloads import MARKUP as HOSTILE
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """Sixty answers; every third one is wrong."""
    cases = [{"expected": "on Monday", "input": f"Question {n}"} for n in range(1, 61)]
    texts = ["on Tuesday" if n % 3 == 0 else "on Monday" for n in range(1, 61)]
    return make_outputs(make_dataset(cases), texts)


@pytest.fixture
def run(outputs: OutputSet, alice: User) -> Run:
    return finished_run(outputs, CLOSE, EXACT)


def address(run: Run) -> str:
    return reverse("run", args=[run.uuid])


def rows(page: Page) -> int:
    return page.locator("#cases tbody tr").count()


def scrolls_sideways(page: Page) -> bool:
    root = "document.documentElement"
    return bool(page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"))


def test_filters_and_order_swap_the_table_and_stand_in_the_address(
    page: Page, sign_in: SignIn, alice: User, run: Run
) -> None:
    sign_in(alice)
    page.goto(address(run))
    page.evaluate("window.stayed = true")
    page.get_by_label("Verdict", exact=True).select_option("fail")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#cases tbody tr")).to_have_count(20)
    assert "verdict=fail" in page.url

    page.locator("#cases thead").get_by_role("link", name="close").click()
    expect(page.locator("#cases th[aria-sort=ascending]")).to_have_text("close")
    assert "verdict=fail" in page.url
    assert "sort=close" in page.url

    page.get_by_role("link", name="Remove the filter fail").click()
    expect(page.locator("#cases tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#cases tbody tr")).to_have_count(10)
    assert page.evaluate("window.stayed")  # all of this without loading a page


def test_a_link_shows_what_its_sender_saw_and_back_leads_back(
    page: Page, sign_in: SignIn, alice: User, run: Run
) -> None:
    sign_in(alice)
    page.goto(address(run) + "?verdict=fail&sort=close")
    assert rows(page) == 20
    page.locator("#cases thead").get_by_role("link", name="exact").click()
    expect(page.locator("#cases th[aria-sort=ascending]")).to_have_text("exact")
    page.go_back()
    expect(page.locator("#cases th[aria-sort=ascending]")).to_have_text("close")
    expect(page.get_by_role("heading", level=1)).to_have_text("w46")


def test_everything_works_without_scripts(
    page: Page, sign_in: SignIn, alice: User, run: Run, complaints: list[str]
) -> None:
    sign_in(alice)
    page.route("**/*.js", lambda route: route.abort())
    page.goto(address(run))
    page.get_by_label("Verdict", exact=True).select_option("fail")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**verdict=fail**")
    assert rows(page) == 20
    page.locator("#cases tbody a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("case-3")
    page.get_by_role("link", name="Next case").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("case-6")
    assert all("ERR_FAILED" in complaint for complaint in complaints)
    complaints.clear()


def test_keys_walk_the_cases_and_the_ways_of_comparing(
    page: Page, sign_in: SignIn, alice: User, run: Run
) -> None:
    sign_in(alice)
    page.goto(address(run) + "?verdict=fail")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("case-3")
    expect(page.locator(".sequence .number")).to_have_text("1 of 20")
    page.keyboard.press("j")
    expect(heading).to_have_text("case-6")
    page.keyboard.press("k")
    expect(heading).to_have_text("case-3")
    ways = page.get_by_role("navigation", name="Ways to compare the output")
    switch = ways.locator("[aria-current]")
    expect(switch).to_have_text("words")
    page.keyboard.press("d")
    expect(switch).to_have_text("characters")
    assert "diff=char" in page.url
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("case-6")
    expect(switch).to_have_text("characters")


def test_a_run_shows_its_progress_and_stops_asking_when_it_has_ended(
    page: Page,
    sign_in: SignIn,
    alice: User,
    outputs: OutputSet,
    let_time_pass: Callable[[], None],
) -> None:
    run = queued_run(outputs, CLOSE)
    sign_in(alice)
    page.goto(address(run))
    expect(page.get_by_text("0 of 60 outputs scored")).to_be_visible()
    expect(page.get_by_text("Nothing scored yet")).to_be_visible()
    report = page.get_by_role("link", name="HTML report")
    expect(report).to_have_count(0)
    for shard in planning.plan_attempt(run).shards.all():
        execute_shard(shard.pk)
    let_time_pass()
    expect(page.get_by_text("60 of 60 outputs scored")).to_be_visible()
    text = page.get_by_label("Text in output")
    text.press_sequentially("not sent yet")
    summarize_run(run)
    planning.change_state(run, (RunState.RUNNING,), RunState.FINISHED)
    let_time_pass()
    expect(page.get_by_role("heading", name="Cases by verdict")).to_be_visible()
    expect(page.locator("#cases tbody tr")).to_have_count(50)
    expect(report).to_be_visible()
    expect(text).to_have_value("not sent yet")
    expect(text).to_be_focused()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    let_time_pass()
    page.evaluate(
        "fetch('/static/js/drift.js')"
    )  # so that a request of the page would have been seen
    assert [url.rpartition("/")[2] for url in asked] == ["drift.js"]


def test_an_editor_cancels_from_the_page(
    page: Page, sign_in: SignIn, alice: User, outputs: OutputSet
) -> None:
    sign_in(alice)
    page.goto(address(queued_run(outputs, CLOSE)))
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator(".state")).to_have_text("cancelled")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".state")).to_have_text("queued")


def test_a_double_click_starts_one_run(
    page: Page, sign_in: SignIn, alice: User, outputs: OutputSet
) -> None:
    scorer = Scorer.objects.define(outputs.version.dataset.team, "close", "levenshtein", {})
    Suite.objects.define(scorer.team, "release", [(scorer, None)])
    sign_in(alice)
    page.goto(reverse("new_run", args=[outputs.version.dataset.uuid]))
    page.get_by_label("Suite").select_option(label="release")
    page.get_by_role("button", name="Start the run").dblclick()
    # Looked at again and again: the second click may break off the first one's way there.
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
    assert Run.objects.count() == 1


def test_every_page_is_accessible_and_fits_its_window(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    run: Run,
) -> None:
    sign_in(alice)
    dataset = run.output_set.version.dataset
    leaves = finished_run(run.output_set, ("leaves", "json_similarity", {}))
    for shown in (
        reverse("runs", args=[run.team.slug]),
        reverse("new_run", args=[dataset.uuid]),
        address(run),
        address(run) + "?verdict=fail&scorer=close&min=0.1&q=on&sort=close",
        address(run) + "?min=low",
        address(run) + "?q=nowhere",
        address(queued_run(run.output_set, CLOSE)),
        reverse("run_case", args=[leaves.uuid, 3]),
    ):
        page.goto(shown)
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert not scrolls_sideways(page), shown
        in_both_schemes(page, is_accessible)


@pytest.mark.parametrize("mode", [pytest.param("plain", marks=pytest.mark.slow), "char"])
def test_no_text_runs_wherever_it_comes_from(
    page: Page,
    sign_in: SignIn,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    mode: str,
) -> None:
    cases = [
        {
            "key": f"{n} {text[:150]}",
            "input": text,
            "expected": f"not {text}",
            "references": [text],
            "metadata": {text[:40]: {"nested": text}},
            "tags": [text[:60]],
        }
        for n, text in enumerate(HOSTILE)
    ]
    outputs = make_outputs(make_dataset(cases, name="<b>bold</b>"), HOSTILE)
    scorers = [
        (HOSTILE[0], "exact_match", {}),
        (HOSTILE[1], "regex", {"pattern": "<script>never"}),
        ("leaves", "json_similarity", {}),
    ]
    run = finished_run(outputs, *scorers, name=HOSTILE[1])
    sign_in(alice)
    page.goto(address(run))
    for position in range(1, len(HOSTILE) + 1):
        page.goto(reverse("run_case", args=[run.uuid, position]) + f"?diff={mode}")
        assert page.locator("#texts .output").count() >= 3
        assert page.locator("#texts script, #texts img, #texts iframe, #texts style").count() == 0
    page.goto(address(run) + "?q=%3Cscript%3E")
    assert page.evaluate("window.ran") is None
