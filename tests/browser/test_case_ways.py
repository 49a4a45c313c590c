"""A case in a real browser: three texts in every mode, beside its baseline, through its history."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from scoring.models import Baseline, CaseVerdict, Comment, Output, Run, User, Verdict
from tests.browser.compare_steps import (
    Check,
    Keys,
    Three,
    has_settled,
    in_both_schemes,
    stays,
    three_runs,
)
from tests.browser.walk import Walk
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]

MODES = ("as it is", "words", "characters", "lines", "JSON paths")
PLACE = 4  # of q04 in the second version


@pytest.fixture
def runs(make_dataset: MakeDataset) -> Three:
    return three_runs(make_dataset)


@pytest.fixture
def case(page: Page, sign_in: SignIn, alice: User, runs: Three) -> Page:
    """q04 in w46, as it stands in the run."""
    sign_in(alice)
    page.goto(reverse("run_case", args=[runs.new.uuid, PLACE]) + "?verdict=fail&n=2")
    return page


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name=name)


def chosen(page: Page, name: str) -> Locator:
    return switch(page, name).locator("[aria-current]")


def test_beside_the_baseline_and_back_inside_the_list_of_the_run(
    case: Page, is_accessible: Check
) -> None:
    expect(case.locator(".sequence .number")).to_have_text("2 of 55")
    expect(chosen(case, "Runs shown")).to_have_text("this run")
    in_both_schemes(case, is_accessible)
    switch(case, "Runs shown").get_by_role("link", name="vs. its baseline").click()
    expect(chosen(case, "Runs shown")).to_have_text("vs. w45")
    expect(case.locator(".text-baseline")).to_contain_text("on Monday")
    in_both_schemes(case, is_accessible)
    case.get_by_role("link", name="Next case").click()
    Walk(case).is_at("q05")
    expect(chosen(case, "Runs shown")).to_have_text("vs. w45")
    expect(case.locator(".sequence .number")).to_have_text("3 of 55")
    switch(case, "Runs shown").get_by_role("link", name="this run").click()
    expect(case.locator(".text-baseline")).to_have_count(0)
    Walk(case).is_at("q05")
    Walk(case).follow("w46", switch(case, "Where you are"))
    expect(case.locator("#cases tbody tr").first).to_contain_text("q03")


@pytest.mark.parametrize(
    ("between", "ins"),
    [
        ("baseline and this run", ["5", "Tues"]),
        pytest.param("expected and this run", ["5", "Tues"], marks=pytest.mark.slow),
        ("expected and baseline", []),
    ],
)
def test_every_two_texts_are_compared_in_every_mode(
    case: Page, runs: Three, is_accessible: Check, between: str, ins: list[str]
) -> None:
    case.goto(f"{case.url}&against={runs.old.uuid}&kind=broke")
    is_same_page = stays(case)
    switch(case, "Texts to compare").get_by_role("link", name=between).click()
    expect(case).to_have_url(re.compile("between="))  # the first pair is chosen before the swap
    expect(chosen(case, "Texts to compare")).to_have_text(between)
    has_settled(case)
    for mode in MODES:
        switch(case, "Ways to compare").get_by_role("link", name=mode).click()
        expect(chosen(case, "Ways to compare")).to_have_text(mode)
        has_settled(case)
        if mode in ("words", "characters"):
            expect(case.locator("#texts .diff ins")).to_have_text(ins)
        is_accessible(case)
    differ = [["total", "4", "4", "5"], ["paid", '"on Monday"', '"on Monday"', '"on Tuesday"']]
    rows = case.get_by_role("table", name="Paths that differ").locator("tbody tr")
    cells = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    assert cells == ([] if between == "expected and baseline" else differ)
    if not cells:
        expect(case.get_by_role("heading", name="No path differs")).to_be_visible()
    assert is_same_page()


def test_keys_alone_turn_the_ways_to_look_at_a_case(case: Page, runs: Three) -> None:
    keys = Keys(case)
    keys.press("t")
    expect(chosen(case, "Runs shown")).to_have_text("vs. w45")
    case.wait_for_load_state()
    is_same_page = stays(case)
    for mode in ("JSON paths", "Markdown", "as it is", "words", "characters", "lines"):
        keys.press("d")
        expect(chosen(case, "Ways to compare")).to_have_text(mode)
        has_settled(case)
    for between in ("expected and this run", "expected and baseline", "baseline and this run"):
        keys.press("b")
        expect(chosen(case, "Texts to compare")).to_have_text(between)
        has_settled(case)
    keys.open("characters")
    expect(chosen(case, "Ways to compare")).to_have_text("characters")
    has_settled(case)
    assert keys.at() == "characters"  # the focus stays where it was
    assert is_same_page()
    case.go_back()
    expect(chosen(case, "Ways to compare")).to_have_text("lines")
    keys.press("j")
    Walk(case).is_at("q05")
    expect(chosen(case, "Ways to compare")).to_have_text("lines")
    case.wait_for_load_state()
    keys.press("t")
    expect(chosen(case, "Runs shown")).to_have_text("this run")


def test_the_history_leads_to_the_case_in_every_run(
    case: Page, runs: Three, is_accessible: Check
) -> None:
    CaseVerdict.objects.filter(run=runs.newest, position=PLACE).update(verdict=Verdict.FAIL)
    case.reload()
    expect(case.get_by_text("1 flip · first bad: w46")).to_be_visible()
    strip = case.locator(".strip a")
    expect(strip).to_have_count(3)
    strip.nth(0).click()
    case.wait_for_url(re.compile(str(runs.old.uuid)))
    Walk(case).is_at("q04")
    is_accessible(case)
    keys = Keys(case)
    keys.open("w47: fail")
    case.wait_for_url(re.compile(str(runs.newest.uuid)))
    Walk(case).is_at("q04")
    keys.open("w46")  # the first bad one
    case.wait_for_url(re.compile(str(runs.new.uuid)))


def test_a_case_that_the_baseline_lacks_is_said_to_be_missing(
    case: Page, runs: Three, is_accessible: Check
) -> None:
    case.goto(reverse("run_case", args=[runs.new.uuid, 60]) + "?against=auto")
    expect(
        case.get_by_text("w45 is over v1 of the dataset, which lacks this case.")
    ).to_be_visible()
    in_both_schemes(case, is_accessible)
    Baseline.objects.pin(runs.newest, by=None)
    case.reload()
    expect(chosen(case, "Runs shown")).to_have_text("vs. w47")


# Why a score is what it is.

CITY = {"type": "includes", "name": "city", "config": {"values": ["Paris"]}}
NEAR = {"type": "levenshtein", "name": "near"}
EITHER = {"type": "any", "name": "either", "config": {"scorers": [CITY, NEAR]}}
EXPRESSION = "size(output) > 10 ? 1.0 : 0.5"
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
SCORERS = [
    ("same", "exact_match", {}),
    ("city", "includes", {"values": ["Paris", "Lyon"], "mode": "any"}),
    ("ends", "regex", {"pattern": "[.]$"}),
    ("close", "levenshtein", {}),
    ("long", "expression", {"expression": EXPRESSION}),
    ("both", "all", {"scorers": [CITY, EITHER]}),
    ("mixed", "weighted", {"scorers": [{**NEAR, "weight": 3}, {**CITY, "weight": 1}]}),
    ("leaves", "json_similarity", {}),
    ("equal", "json_match", {}),
    ("number", "numeric", {}),
]  # fmt: skip


@pytest.fixture
def scored(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """A case as text, one as JSON, one as a number."""
    expected = ["It is in Paris.", {"city": "Paris", "rooms": 3}, 5]
    version = make_dataset([{"key": f"q{n}", "expected": each} for n, each in enumerate(expected)])
    outputs = make_outputs(version, ["It is in Lyon.", '{"city": "Paris", "rooms": 4}', "6"])
    Output.objects.filter(case__position=2).update(is_json=True)
    return finished_run(outputs, *SCORERS)


@pytest.mark.parametrize(
    ("position", "sums"),
    [
        (
            1,
            {
                "same": "0 < 1 → fail",
                "city": "1 ≥ 1 → pass",
                "ends": "1 ≥ 1 → pass",
                "close": f"1 {MINUS} 5 / 15 = 0.67 < 0.7 → fail",
                "long": "1 ≥ 0.5 → pass",
                "both": "min(0, 0.67) = 0 < 0.5 → fail",
                "mixed": f"(0.67 {TIMES} 3 + 0 {TIMES} 1) / 4 = 0.5025 ≥ 0.5 → pass",
            },
        ),
        (2, {"leaves": "1.6667 / 2 = 0.8333 < 0.9 → fail", "equal": "0 < 1 → fail"}),
        (3, {"number": f"1 {MINUS} 1 / (5 + 6) = 0.9091"}),
    ],
)
def test_the_arithmetic_of_every_type_is_shown_and_can_be_read(
    page: Page,
    sign_in: SignIn,
    is_accessible: Check,
    alice: User,
    scored: Run,
    position: int,
    sums: dict[str, str],
) -> None:
    sign_in(alice)
    page.goto(reverse("run_case", args=[scored.uuid, position]))
    for name, arithmetic in sums.items():
        why = page.locator(".columns-why > li").filter(
            has=page.get_by_role("heading", name=name, level=3)
        )
        expect(why.locator(".why").first).to_contain_text(arithmetic)
    in_both_schemes(page, is_accessible)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_after_a_deletion_the_focus_is_on_what_undoes_it(
    case: Page, runs: Three, alice: User
) -> None:
    """Not on the next comment's own Delete, where a second press would take that away too."""
    output = Output.objects.get(output_set=runs.new.output_set, case__position=PLACE)
    for text in ("One", "Two", "Three"):
        Comment.objects.add(runs.new, output, text, by=alice)
    case.reload()
    region = case.get_by_role("region", name="Comments")
    region.get_by_role("button", name="Delete").nth(1).press("Enter")
    expect(region.get_by_role("button", name="Undo")).to_be_focused()
    has_settled(case)
    case.keyboard.press("Enter")
    expect(region.locator("li").nth(1)).to_contain_text("Two")
    assert Comment.objects.filter(deleted_at=None).count() == 3
