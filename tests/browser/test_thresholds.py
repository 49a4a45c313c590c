"""A threshold is previewed on the curve and changed: by the pointer, and by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from scoring.models import ReviewVerdict, User
from tests.browser.actions import ByKeys, ByMouse, Hand
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import give_in_turn
from tests.support.suite_runs import entry_of, suite_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
SCORES = {"close": [0.2, 0.55, 0.58, 0.9, 1.0]}
PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL


@pytest.fixture
def at_threshold(
    page: Page, sign_in: Callable[[User], None], alice: User, make_dataset: MakeDataset
) -> Page:
    """At the page of the threshold 0.5, two of whose five scores lie below 0.6."""
    version = make_dataset([{}] * 5)
    for name in ("w45", "w46"):
        suite_run(version, SCORES, name=name)
    entry = entry_of()
    sign_in(alice)
    page.goto(reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid]))
    return page


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="New threshold")


def drag_to(page: Page, threshold: float) -> None:
    box = page.locator("[data-threshold-plot]").bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=4)
    page.mouse.move(box["x"] + box["width"] * threshold, middle, steps=4)
    page.mouse.up()


def walk_to(page: Page, threshold: float) -> None:
    """From 0.5 by arrow keys, after a leap to each end."""
    ByKeys(page).reach(slider(page))
    for key, value in {"End": "1", "Home": "0", "PageUp": "0.1"}.items():
        page.keyboard.press(key)
        expect(slider(page)).to_have_attribute("aria-valuenow", value)
    for _ in range(round((threshold - 0.1) * 100)):
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(("hand", "move"), [(ByMouse, drag_to), (ByKeys, walk_to)])
def test_a_threshold_is_moved_on_the_curve_and_changed(
    at_threshold: Page,
    is_accessible: Check,
    hand: Callable[[Page], Hand],
    move: Callable[[Page, float], None],
) -> None:
    page = at_threshold
    is_accessible(page)
    move(page, 0.6)
    expect(page.get_by_label("New threshold", exact=True).first).to_have_value("0.6")
    finding = page.locator("#preview .finding").first
    expect(finding).to_contain_text("2 of 5 cases of w46 would fail instead of pass")
    flips = page.get_by_role("region", name="Cases of w46 that flip").get_by_role("row")
    expect(flips).to_have_count(3)
    assert page.url.endswith("?threshold=0.6")
    in_both_schemes(page, is_accessible)
    hand(page).write(page.get_by_label("Reason"), "Typos cost us calls")
    hand(page).press(page.get_by_role("button", name="Change threshold"))
    expect(page.locator("#messages")).to_contain_text("Threshold of close changed: 0.5 → 0.6.")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("Typos cost us calls")
    assert entry_of().threshold == 0.6


def test_a_typed_reason_stays_while_another_threshold_is_looked_at(at_threshold: Page) -> None:
    page = at_threshold
    page.get_by_label("New threshold", exact=True).first.fill("0.95")
    page.get_by_label("Reason").fill("Stricter")
    page.get_by_label("New threshold", exact=True).first.fill("0.57")
    expect(page.locator(".finding").first).to_contain_text("At 0.57 instead of 0.5")
    expect(page.get_by_label("Reason")).to_have_value("Stricter")
    expect(slider(page)).to_have_attribute("aria-valuenow", "0.57")


def test_a_run_is_relabelled_and_shown_by_either_label(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Check,
    alice: User,
    make_dataset: MakeDataset,
) -> None:
    run = suite_run(make_dataset([{}] * 5), SCORES)
    entry_of().change_threshold(0.6, by=alice, reason="Typos cost us calls")
    sign_in(alice)
    entry, hand = entry_of(), ByKeys(page)
    page.goto(reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid]))
    panel = page.get_by_role("region", name="Labels of finished runs")
    expect(panel).to_contain_text("1 of the last 10 finished runs")
    in_both_schemes(page, is_accessible)
    hand.press(panel.get_by_role("button", name="Re-label 1 run"))
    expect(panel).to_contain_text("Re-labelling runs.")  # no worker takes it up
    in_both_schemes(page, is_accessible)
    page.goto(reverse("run", args=[run.uuid]))
    hand.press(page.get_by_role("button", name="Re-label with the suite's thresholds"))
    expect(page.locator("#messages")).to_contain_text("Re-labelled with close 0.6.")
    later = page.locator(".verdicts-later")
    expect(later).to_contain_text("2 pass")
    expect(page.get_by_text("scored as pass")).to_have_count(2)
    in_both_schemes(page, is_accessible)
    hand.press(page.get_by_role("link", name="As scored"))
    expect(page.get_by_text("re-labelled fail")).to_have_count(2)
    expect(later).to_contain_text("2 pass")
    slider_of_run = page.get_by_role("slider", name="New threshold of close")
    hand.reach(slider_of_run)
    page.keyboard.press("ArrowRight")
    hand.press(page.get_by_role("button", name="Preview 0.51"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Threshold of close")
    assert "threshold=0.51" in page.url


@pytest.mark.parametrize("hand", [ByMouse, ByKeys])
def test_an_editor_proposes_several_and_an_administrator_accepts(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Check,
    alice: User,
    erin: User,
    make_dataset: MakeDataset,
    hand: Callable[[Page], Hand],
) -> None:
    version = make_dataset([{}] * 5)
    for name in ("w45", "w46"):
        suite_run(version, SCORES | {"same": [1, 1, 0, 1, 1]}, name=name)
    suite = entry_of().suite
    sign_in(erin)
    page.goto(reverse("suite", args=[suite.uuid]))
    is_accessible(page)
    hand(page).press(page.get_by_role("link", name="Preview other thresholds"))
    for name, value in (("close", "0.57"), ("same", "0")):
        hand(page).write(page.get_by_label(f"New threshold of {name}"), value)
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_role("row", name="same")).to_contain_text("0.5 → 0")
    expect(preview.get_by_role("row", name="close")).to_contain_text("60.0\u202f%")
    expect(page.get_by_role("region", name="Gates and comparison")).to_contain_text("As scored")
    in_both_schemes(page, is_accessible)
    hand(page).write(page.get_by_label("Reason"), "Typos cost us calls")
    hand(page).press(page.get_by_role("button", name="Propose change"))
    expect(page.locator("#messages")).to_contain_text("An administrator accepts or rejects it.")
    assert entry_of().threshold == 0.5
    sign_in(alice)
    page.goto("/")
    hand(page).press(page.get_by_role("link", name="release", exact=True))
    proposal = page.get_by_role("region", name="Other thresholds")
    expect(proposal).to_contain_text("Typos cost us calls")
    in_both_schemes(page, is_accessible)
    hand(page).write(proposal.get_by_label("Reason"), "Agreed")
    hand(page).press(proposal.get_by_role("button", name="Accept"))
    expect(page.locator("#messages")).to_contain_text("Proposal accepted.")
    changes = page.get_by_role("region", name="Threshold changes")
    expect(changes).to_contain_text("changed together with the one above")
    assert (entry_of().threshold, entry_of("same").threshold) == (0.57, 0.0)


def test_the_form_of_a_suite_shows_what_its_thresholds_would_do(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Check,
    alice: User,
    make_dataset: MakeDataset,
) -> None:
    suite_run(make_dataset([{}] * 5), SCORES)
    sign_in(alice)
    page.goto(reverse("edit_suite", args=[entry_of().suite.uuid]))
    page.get_by_label("Threshold of close").fill("0.6")
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_role("row", name="close")).to_contain_text("0.5 → 0.6")
    expect(page.get_by_role("region", name="Gates and comparison")).to_contain_text("As scored")
    is_accessible(page)
    page.get_by_label("Threshold of close").fill("0.5")
    expect(preview.get_by_role("row", name="close")).not_to_contain_text("→")


def test_agreement_with_people_is_drawn_and_its_best_threshold_previewed(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Check,
    alice: User,
    make_dataset: MakeDataset,
) -> None:
    run = suite_run(make_dataset([{}] * 5), SCORES)
    give_in_turn(run, alice, [FAIL, FAIL, PASS, PASS, PASS])
    entry = entry_of()
    sign_in(alice)
    page.goto(reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid]))
    expect(page.get_by_role("img", name="Kappa, precision and recall")).to_be_visible()
    agreement = page.get_by_role("region", name="Agreement with people")
    expect(agreement).to_contain_text("Agreement is best at 0.58")
    in_both_schemes(page, is_accessible)
    agreement.get_by_role("link", name="Preview 0.58").click()
    expect(page.locator(".finding").first).to_contain_text("1 of 5 cases of w46 would fail")
    expect(slider(page)).to_have_attribute("aria-valuenow", "0.58")
