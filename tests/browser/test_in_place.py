"""What is one page stays one: lists are turned, forms refused and parts changed in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from evalsite.pages.datasets import version_changes
from evalsite.pages.web.keyset import keyset_page
from scoring.engine import drafts
from scoring.models import (
    AuditEntry,
    Dataset,
    DatasetVersion,
    Run,
    Scorer,
    Team,
    Upload,
    User,
)
from tests.browser.actions import HANDS, Bench, ByKeys, ByMouse
from tests.browser.compare_steps import has_settled, stays
from tests.browser.test_feel import LISTEN, LOW, heard, scrolled, top
from tests.browser.test_uploads import work
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
MakeHand = Callable[[Page], ByKeys | ByMouse]

EACH = 14  # rows of a list, which is higher than the window
PRESSES_AT_ONCE = """
document.addEventListener("htmx:afterSwap", () => {
  if (document.querySelector("h1").textContent.trim() !== "q01") return;
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true }));
}, { once: true });
"""


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyset_page, "__defaults__", (EACH,))
    monkeypatch.setattr(version_changes, "PAGE_SIZE", EACH)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    """The second version of a dataset, all of whose 40 cases it changed."""
    for asked in ("Why", "How"):
        cases = [{"key": f"q{n:02}", "input": f"{asked} {n}?", "expected": "x"} for n in range(40)]
        version = make_dataset(cases)
    return version


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    return run_with(version, {"close": [0.1, 0.9] * 20}, name="w46")


@pytest.fixture
def low(page: Page, sign_in: SignIn, alice: User) -> Page:
    """A window lower than its lists."""
    sign_in(alice)
    page.add_init_script(LISTEN)
    page.set_viewport_size(LOW)  # type: ignore[arg-type]
    return page


def fill(kind: str, version: DatasetVersion, make_dataset: MakeDataset) -> str:
    """Makes the list two pages long; its address."""
    dataset, team = version.dataset, version.dataset.team
    made = range(20)
    if kind == "datasets":
        for n in made:
            make_dataset([{"key": "a"}], f"Set {n:02}")
        return reverse("datasets", args=[team.slug])
    if kind == "dataset_versions":
        for n in made:
            make_dataset([{"key": f"only-{n}"}])
    if kind in ("runs", "dataset_runs", "dataset_outputs"):
        for n in made:
            run_with(version, {"close": [0.5] * 40}, name=f"r{n:02}")
    if kind == "draft":
        draft = drafts.open_draft(dataset, None)
        for n in made:
            drafts.delete_case(draft, f"q{n:02}", None)
    return reverse(kind, args=[team.slug if kind == "runs" else dataset.uuid])


LISTS = (
    "datasets",
    "dataset",
    pytest.param("dataset_versions", marks=pytest.mark.slow),
    "version_changes",
    pytest.param("dataset_outputs", marks=pytest.mark.slow),
    pytest.param("dataset_runs", marks=pytest.mark.slow),
    "runs",
    pytest.param("draft", marks=pytest.mark.slow),
)


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_is_turned_in_place_and_back(
    low: Page, version: DatasetVersion, make_dataset: MakeDataset, kind: str
) -> None:
    low.goto(fill(kind, version, make_dataset))
    is_same = stays(low)
    pages = low.get_by_role("navigation", name="Pages")
    listed = low.locator("#list, #cases table")
    following, back = (pages.get_by_role("link", name=name) for name in ("Next", "Previous"))
    first = low.locator("main").inner_text()
    before = low.locator("[data-says]", has_text=", from ").first.text_content()
    following.focus()
    place = scrolled(low)
    assert place > 0
    low.keyboard.press("Enter")
    expect(back).to_be_visible()
    told = low.locator("[data-says]", has_text=", from ")
    heard(low, " ".join((told.first.text_content() or "").split()))
    assert told.first.text_content() != before
    has_settled(low)
    assert -1 < top(listed) < LOW["height"] / 2
    expect(low.locator("body")).not_to_be_focused()
    low.go_back()
    expect(back).to_have_count(0)
    expect(following).to_be_focused()
    assert low.locator("main").inner_text() == first
    assert abs(scrolled(low) - place) < 2
    assert is_same()


@pytest.mark.parametrize("make_hand", HANDS)
def test_the_parts_of_a_dataset_and_its_cases_are_seen_in_place(
    low: Page, version: DatasetVersion, run: Run, make_hand: MakeHand
) -> None:
    bench = Bench(low, make_hand(low))
    low.goto(reverse("dataset", args=[version.dataset.uuid]))
    is_same = stays(low)
    parts = low.get_by_role("navigation", name="Parts of the dataset")
    for name, told in (("Versions", "Version 2"), ("Output sets", "New run"), ("Runs", "w46")):
        tab = parts.get_by_role("link", name=name)
        bench.hand.press(tab)
        expect(low.locator("#list")).to_contain_text(told)
        expect(tab).to_be_focused()
        expect(tab).to_have_attribute("aria-current", "page")
    low.go_back()
    expect(low.locator("#list")).to_contain_text("New run")
    bench.hand.press(parts.get_by_role("link", name="Cases"))
    expect(low.locator("#cases")).to_be_visible()
    assert is_same()
    bench.hand.press(parts.get_by_role("link", name="Drift"))  # which has a script of its own
    low.wait_for_url("**/drift/")
    assert not is_same()
    low.goto(reverse("dataset_case", args=[version.dataset.uuid, 1]))
    is_same = stays(low)
    following = low.get_by_role("link", name="Next case")
    bench.hand.press(following)
    bench.is_at("q01")
    heard(low, "2 of 40")
    expect(following).to_be_focused()
    low.keyboard.press("k")
    bench.is_at("q00")
    assert is_same()


@pytest.mark.parametrize("make_hand", HANDS)
def test_a_scorer_is_refused_and_saved_in_place(
    low: Page, run: Run, make_hand: MakeHand, complaints: list[str]
) -> None:
    bench = Bench(low, make_hand(low))
    scorer = Scorer.objects.define(run.team, "near", "levenshtein", {})
    low.goto(reverse("edit_scorer", args=[scorer.uuid]))
    expect(low.locator("#tried")).to_be_visible()
    is_same = stays(low)
    bench.hand.write(bench.field("Name"), "close")  # as another one is called
    bench.hand.press(bench.button("Save"))
    expect(low.get_by_role("alert")).to_be_in_viewport()
    forgive_422(complaints)
    bench.hand.write(bench.field("Name"), "nearer")
    bench.hand.press(bench.button("Edit as JSON"))
    expect(bench.button("Edit as fields")).to_be_visible()
    expect(bench.field("Name")).to_have_value("nearer")
    bench.hand.press(bench.button("Save"))
    bench.is_at("nearer")
    heard(low, "Saved.")
    assert low.url.endswith(f"/scorers/{scorer.uuid}/")
    assert scrolled(low) == 0
    expect(low.get_by_role("heading", level=1)).to_be_focused()
    assert is_same()
    low.go_back()
    bench.is_at("Edit")
    expect(bench.field("Name")).to_have_value("nearer")
    assert is_same()


@pytest.mark.parametrize("make_hand", HANDS)
def test_a_run_is_renamed_and_deleted_and_says_so(
    low: Page, run: Run, make_hand: MakeHand, complaints: list[str]
) -> None:
    bench = Bench(low, make_hand(low))
    low.goto(reverse("edit_run", args=[run.uuid]))
    is_same = stays(low)
    name = low.get_by_label("Name", exact=True)
    name.evaluate("field => { field.required = false }")
    bench.hand.write(name, " ")
    bench.hand.press(bench.button("Save"))
    expect(low.get_by_role("alert")).to_be_in_viewport()
    forgive_422(complaints)
    assert is_same()
    bench.hand.write(name, "w46 again")
    bench.hand.press(bench.button("Save"))
    bench.is_at("w46 again")
    heard(low, "Saved.")
    bench.hand.press(low.get_by_label("More about this run"))
    bench.hand.press(bench.button("Delete"))
    bench.is_at("Runs")
    heard(low, "w46 again is deleted.")
    bench.hand.press(bench.button("Undo"))
    bench.is_at("w46 again")
    heard(low, "w46 again is back.")
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions)[-2:] == ["run.deleted", "run.restored"]


def test_a_verdict_given_before_htmx_knows_its_form_does_not_load_the_page(
    low: Page, run: Run
) -> None:
    low.goto(reverse("run_case", args=[run.uuid, 1]) + "?n=1")
    low.evaluate(PRESSES_AT_ONCE)
    is_same = stays(low)
    low.keyboard.press("j")
    expect(low.get_by_role("heading", level=1)).to_have_text("q01")
    pressed = low.get_by_role("button", name="fail", exact=False, pressed=True)
    expect(pressed).to_be_visible()
    low.go_back()
    expect(low.get_by_role("heading", level=1)).to_have_text("q00")
    expect(low.locator("#reviews [aria-pressed=true]")).to_have_count(0)
    assert is_same()


@pytest.fixture
def later(version: DatasetVersion, run: Run) -> Run:
    """A run that has another one before it."""
    return run_with(version, {"close": [0.2, 0.9] * 20}, name="w47")


def test_the_focus_stays_on_next_and_previous_beside_a_link_of_their_address(
    low: Page, later: Run
) -> None:
    low.goto(reverse("run_case", args=[later.uuid, 2]) + "?n=2")
    is_same = stays(low)
    heading = low.get_by_role("heading", level=1)
    low.get_by_role("link", name="Next case").press("Enter")
    expect(heading).to_have_text("q02")
    expect(low.get_by_role("link", name="Next case")).to_be_focused()
    for key in ("q01", "q00"):
        low.get_by_role("link", name="Previous case").press("Enter")
        expect(heading).to_have_text(key)
    expect(low.get_by_role("navigation", name="Cases", exact=True)).to_be_focused()
    assert is_same()


@pytest.mark.parametrize("make_hand", HANDS)
def test_how_a_case_is_shown_changes_in_place_and_is_said(
    low: Page, later: Run, make_hand: MakeHand
) -> None:
    hand = make_hand(low)
    low.goto(reverse("run_case", args=[later.uuid, 1]) + "?n=1")
    is_same = stays(low)
    runs = low.get_by_role("navigation", name="Runs shown")
    beside = runs.get_by_role("link", name="vs.")
    hand.press(beside)
    heard(low, "vs. w46")
    expect(beside).to_be_focused()
    modes = low.get_by_role("navigation", name="Ways to compare the texts")
    hand.press(modes.get_by_role("link", name="characters"))
    heard(low, "characters")
    hand.press(runs.get_by_role("link", name="this run"))
    heard(low, "this run")
    assert is_same()


def test_a_figure_that_leads_to_cases_takes_the_focus_along(low: Page, run: Run) -> None:
    low.goto(reverse("run", args=[run.uuid]))
    is_same = stays(low)
    verdict = low.locator(".verdicts").get_by_role("link", name="fail")
    verdict.press("Enter")
    heard(low, "of 20, fail")
    expect(low.get_by_role("region", name="Cases", exact=True)).to_be_focused()
    assert -1 < top(low.locator("#cases")) < LOW["height"] / 2
    low.go_back()
    heard(low, "1\N{EN DASH}40 of 40")
    expect(verdict).to_be_focused()
    assert is_same()


def test_a_page_that_a_form_is_left_for_begins_at_its_top(low: Page, run: Run) -> None:
    for n in range(20):
        Scorer.objects.define(run.team, f"another {n}", "levenshtein", {})
    low.goto(reverse("new_suite", args=[run.team.slug]))
    is_same = stays(low)
    low.get_by_role("link", name="Cancel").press("Enter")
    heading = low.get_by_role("heading", level=1)
    expect(heading).to_have_text("Scorers")
    expect(heading).to_be_focused()
    assert scrolled(low) == 0
    assert is_same()


def test_a_message_that_is_dismissed_leaves_the_focus_on_the_page(low: Page, run: Run) -> None:
    low.goto(reverse("run", args=[run.uuid]))
    low.get_by_role("button", name="Set as baseline").press("Enter")
    message = low.locator("#messages .notice")
    message.get_by_role("button", name="Dismiss").press("Enter")
    expect(message).to_have_count(0)
    expect(low.get_by_role("main")).to_be_focused()


@pytest.mark.parametrize("make_hand", HANDS)
def test_pasted_rows_become_a_dataset_without_a_whole_page(
    low: Page,
    alice: User,
    team: Team,
    settings: Settings,
    tmp_path: Path,
    make_hand: MakeHand,
    let_time_pass: Callable[[], None],
) -> None:
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    bench = Bench(low, make_hand(low))
    low.goto(reverse("new_upload", args=[team.slug]))
    is_same = stays(low)
    bench.hand.write(bench.field("Name of the new dataset"), "Pasted")
    bench.hand.write(bench.field("Or paste rows"), "id,input\na,1\nb,2\n")
    bench.hand.press(bench.button("Upload and look"))
    expect(low.get_by_role("heading", name="What the columns hold")).to_be_visible()
    expect(low.get_by_role("heading", level=1)).to_be_focused()
    assert scrolled(low) == 0
    low.go_back()
    expect(bench.field("Name of the new dataset")).to_be_visible()
    low.go_forward()
    bench.hand.press(bench.button("Check the rows"))
    expect(bench.button("Cancel")).to_be_visible()
    work(Upload.objects.get())
    let_time_pass()
    heard(low, "Checked: 2 rows, 0 with problems")
    bench.hand.press(bench.button("Import"))
    expect(bench.button("Cancel")).to_be_visible()
    work(Upload.objects.get())
    let_time_pass()
    bench.is_at("Pasted")
    heard(low, "is imported.")
    expect(low.get_by_role("heading", level=1)).to_be_focused()
    assert low.url.endswith(reverse("dataset", args=[Dataset.objects.get().uuid]))
    assert is_same()
