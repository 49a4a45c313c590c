"""What a reader can ask of a case's texts: marks, layouts, folds, Markdown, by mouse and keys."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from scoring.models import Output, Run, User
from tests.browser.compare_steps import Check, Keys, has_settled, in_both_schemes, stays
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.payloads import MARKDOWN, MARKUP
from tests.support.run_states import CLOSE, finished_run
from tests.support.thoroughness import IS_THOROUGH

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]

TEXT = "two  words\tand\na  tail"
LINES = [f"line {n} of a long answer\n" for n in range(60)]
CITY = ("city", "includes", {"values": ["Paris", "Rome"]})


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n}", "input": "?", "expected": "two words"} for n in range(3)]
    return finished_run(make_outputs(make_dataset(cases), [TEXT] * 3), CLOSE)


@pytest.fixture
def case(page: Page, sign_in: SignIn, alice: User, run: Run) -> Page:
    sign_in(alice)
    page.goto(reverse("run_case", args=[run.uuid, 2]) + "?diff=plain")
    return page


def test_white_space_is_marked_by_key_and_copied_as_it_is(case: Page, is_accessible: Check) -> None:
    is_same_page = stays(case)
    Keys(case).press("w")
    space = case.get_by_role("navigation", name="White space")
    expect(space.locator("[aria-current]")).to_have_text("spaces marked")
    has_settled(case)
    expect(case.locator(".gap-tab").first).to_be_visible()
    drawn = "element => getComputedStyle(element, '::before').content"
    assert "→" in case.locator(".gap-tab").first.evaluate(drawn)
    assert "¶" in case.locator(".gap-end").first.evaluate(drawn)
    output = case.get_by_role("region", name="Output").locator(".output")
    copied = output.evaluate(
        "element => { getSelection().selectAllChildren(element); return `${getSelection()}`; }"
    )
    assert copied == TEXT
    assert is_same_page()
    in_both_schemes(case, is_accessible)
    case.get_by_role("link", name="Next case").click()
    expect(case.get_by_role("heading", level=1)).to_have_text("q2")
    expect(space.locator("[aria-current]")).to_have_text("spaces marked")
    space.get_by_role("link", name="spaces plain").click()
    expect(case.locator(".gap-space")).to_have_count(0)


def chosen(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name=name).locator("[aria-current]")


@pytest.fixture
def long_case(
    page: Page, sign_in: SignIn, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> Page:
    """An answer of sixty lines, in which one differs."""
    cases = [{"key": f"q{n}", "input": "?", "expected": "".join(LINES)} for n in range(3)]
    changed = "".join([*LINES[:30], "another line, in Paris\n", *LINES[31:]])
    run = finished_run(make_outputs(make_dataset(cases), [changed] * 3), CLOSE, CITY)
    sign_in(alice)
    page.goto(reverse("run_case", args=[run.uuid, 2]))
    return page


def test_the_layout_turns_by_key_and_stays_from_case_to_case(
    long_case: Page, is_accessible: Check
) -> None:
    page = long_case
    is_same_page = stays(page)
    expected = page.get_by_role("region", name="Expected", exact=True)
    output = page.get_by_role("region", name="Output", exact=True)
    left, right = expected.bounding_box(), output.bounding_box()
    assert left
    assert right
    assert left["y"] == right["y"]
    in_both_schemes(page, is_accessible)
    page.set_viewport_size({"width": 360, "height": 800})
    left, right = expected.bounding_box(), output.bounding_box()
    assert left
    assert right
    assert left["y"] + left["height"] <= right["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    Keys(page).press("l")
    expect(chosen(page, "Layout")).to_have_text("inline")
    both = page.get_by_role("region", name="Expected → Output")
    expect(both.locator(".output ins")).to_have_count(1)
    expect(output).to_have_count(0)
    has_settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    in_both_schemes(page, is_accessible)
    assert is_same_page()
    page.get_by_role("link", name="Next case").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("q2")
    expect(chosen(page, "Layout")).to_have_text("inline")


def test_a_fold_opens_in_place_by_keyboard_and_is_not_copied(
    long_case: Page, is_accessible: Check
) -> None:
    page = long_case
    output = page.get_by_role("region", name="Output", exact=True).locator(".output")
    fold = output.get_by_text("unchanged lines").first
    expect(output).not_to_contain_text("line 3 of", use_inner_text=True)
    fold.focus()
    page.keyboard.press("Enter")
    expect(output).to_contain_text("line 3 of", use_inner_text=True)
    is_accessible(page)
    output.locator("summary").last.click()
    copied = output.evaluate(
        "element => { getSelection().selectAllChildren(element); return `${getSelection()}`; }"
    )
    assert "unchanged" not in copied
    kept = [line for line in copied.splitlines() if line]
    assert kept == [
        *map(str.strip, LINES[:30]),
        "another line, in Paris",
        *map(str.strip, LINES[31:]),
    ]


def test_lines_that_both_texts_have_stay_level(
    page: Page,
    sign_in: SignIn,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    is_accessible: Check,
) -> None:
    missing = "".join([*LINES[:20], *LINES[24:40], "added\n", *LINES[40:]])
    cases = [{"key": "q1", "input": "?", "expected": "".join(LINES)}]
    run = finished_run(make_outputs(make_dataset(cases), [missing]), CLOSE)
    sign_in(alice)
    page.goto(reverse("run_case", args=[run.uuid, 1]) + "?diff=line")

    def folds(name: str) -> Locator:
        return page.get_by_role("region", name=name, exact=True).locator(".diff-fold")

    def tops(name: str) -> list[float]:
        places = "folds => folds.map(fold => fold.getBoundingClientRect().top)"
        return list(folds(name).evaluate_all(places))

    expect(folds("Expected")).to_have_count(3)
    assert tops("Expected") == tops("Output")
    is_accessible(page)
    folds("Expected").first.locator("summary").click()
    expect(folds("Output").first).to_have_attribute("open", "")
    assert tops("Expected") == tops("Output")
    folds("Output").first.locator("summary").click()
    expect(page.locator(".diff-fold[open]")).to_have_count(0)
    page.set_viewport_size({"width": 360, "height": 800})
    expect(page.locator(".diff-level")).to_have_count(2)
    expect(page.locator(".diff-level:visible")).to_have_count(0)


def test_matches_are_marked_and_named_for_those_who_hear_the_page(
    long_case: Page, is_accessible: Check
) -> None:
    page = long_case
    is_same = stays(page)
    page.get_by_role("link", name="Look for it in the output").press("Enter")
    expect(chosen(page, "Ways to compare")).to_have_text("matches")
    expect(page.locator("#texts")).to_be_focused()
    assert is_same()
    match = page.locator("mark.match")
    expect(match).to_have_text("Paris")
    heard = match.evaluate("element => getComputedStyle(element, '::before').content")
    assert "match of" in heard
    assert "city" in heard
    expect(page.get_by_role("region", name="What the scorers look for")).to_contain_text(
        "not found"
    )
    in_both_schemes(page, is_accessible)
    copied = match.evaluate(
        "element => { getSelection().selectAllChildren(element); return `${getSelection()}`; }"
    )
    assert copied == "Paris"


@pytest.mark.long("every payload has a page of its own")
def test_no_payload_runs_when_it_is_read_as_markdown(
    page: Page,
    sign_in: SignIn,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    is_accessible: Check,
) -> None:
    payloads = [*MARKDOWN, *(MARKUP if IS_THOROUGH else ())]
    cases = [
        {"key": f"q{n}", "input": text, "expected": text, "references": [text]}
        for n, text in enumerate(payloads)
    ]
    run = finished_run(make_outputs(make_dataset(cases), payloads), CLOSE)
    Output.objects.filter(output_set=run.output_set, case__position=1).update(
        text="\n\n".join(payloads[:40])
    )
    sign_in(alice)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    too_much: list[str] = []
    for position in range(1, len(payloads) + 1):
        page.goto(reverse("run_case", args=[run.uuid, position]) + "?diff=markdown")
        if page.get_by_text("Too much markup to be set as Markdown").count():
            too_much.append(payloads[position - 1])
        else:
            assert page.locator("#texts .markdown").count() >= 1
        assert page.locator("#texts :is(script, img, svg, iframe, style, input)").count() == 0
        assert page.evaluate("window.ran") is None
        page.evaluate("document.querySelectorAll('#texts .markdown *').forEach((e) => e.focus?.())")
    assert all(len(text) > 10_000 for text in too_much)
    own = page.url.partition("/runs/")[0]
    assert all(url.startswith((own, "data:")) for url in asked)
    page.goto(reverse("run_case", args=[run.uuid, 1]) + "?diff=markdown")
    in_both_schemes(page, is_accessible)


def test_the_table_of_leaves_opens_what_is_the_same_and_fits_a_phone(
    page: Page,
    sign_in: SignIn,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    is_accessible: Check,
) -> None:
    cases = [{"key": "q", "input": "?", "expected": {"name": "Ada", "age": 36, "born": "1815"}}]
    outputs = make_outputs(make_dataset(cases), ['{"name": 7, "age": 36}'])
    run = finished_run(outputs, ("leaves", "json_similarity", {}))
    sign_in(alice)
    for query, title in (("", "Leaf by leaf"), ("?diff=path", "Where they differ")):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(reverse("run_case", args=[run.uuid, 1]) + query)
        table = page.get_by_role("region", name=title)
        rows = table.get_by_role("table", name="Paths that differ").locator("tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.last).to_contain_text("missing")
        expect(table).to_contain_text("leaves: 1 of 3 leaves, each 1 / 3 of the score")
        same = table.get_by_role("table", name="Paths that hold the same")
        expect(same).to_be_hidden()
        table.get_by_text("1 path holds the same in both").click()
        expect(same.locator("tbody tr")).to_contain_text("age")
        in_both_schemes(page, is_accessible)
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for mode, titles in (("lines", ["Leaf by leaf"]), ("JSON paths", ["Where they differ"])):
        switch = page.get_by_role("navigation", name="Ways to compare")
        switch.get_by_role("link", name=mode).click()
        expect(chosen(page, "Ways to compare")).to_have_text(mode)
        expect(page.locator("#paths-title")).to_have_text(titles)


def test_rows_of_a_long_table_come_in_place_by_keyboard_and_back_again(
    page: Page,
    sign_in: SignIn,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    is_accessible: Check,
) -> None:
    expected, output = ({f"k{n:02}": n + more for n in range(90)} for more in (1, 2))
    outputs = make_outputs(make_dataset([{"key": "q", "expected": expected}]), [json.dumps(output)])
    run = finished_run(outputs, ("leaves", "json_similarity", {}))
    sign_in(alice)
    page.goto(reverse("run_case", args=[run.uuid, 1]) + "?diff=line")
    is_same_page = stays(page)
    table = page.get_by_role("region", name="Leaf by leaf")
    rows = table.get_by_role("table", name="Paths that differ").locator("tbody tr")
    expect(rows).to_have_count(50)
    in_both_schemes(page, is_accessible)
    table.get_by_role("link", name="Show all 90").focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(90)
    expect(table).to_be_focused()
    assert is_same_page()
    is_accessible(page)
    page.go_back()
    expect(rows).to_have_count(50)
