"""Broken cases signed off by mouse and by keyboard alone: accept, reject, waive, undo, reopen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from scoring.models import CaseDecision, CaseDecisionState, User, Waiver
from scoring.models.reviews.broken_cases import BrokenCases
from tests.browser.actions import HANDS, Bench, ByMouse, Hand
from tests.browser.compare_steps import Three, has_settled, in_both_schemes, three_runs
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset
from tests.support.waived_runs import waive

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def row(page: Page, key: str) -> Locator:
    return page.locator("#cases tbody tr").filter(has=page.get_by_text(key, exact=True))


def state_is(page: Page, key: str, text: str) -> None:
    expect(row(page, key).locator(".case-state")).to_have_text(text)


def select(hand: Hand, page: Page, *keys: str) -> None:
    for key in keys:
        has_settled(page)
        hand.tick(row(page, key).get_by_role("checkbox"), "x")


def counts(runs: Three) -> tuple[int, int, int, int]:
    found = BrokenCases(runs.old, runs.new).counts(55)
    return found.open, found.accepted, found.rejected, found.waived


@pytest.mark.long("one long walk by the tab key alone")
@pytest.mark.parametrize("hand_of", HANDS)
def test_broken_cases_are_signed_off(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    make_dataset: MakeDataset,
    is_accessible: Callable[[Page], None],
    complaints: list[str],
    hand_of: Callable[[Page], Hand],
) -> None:
    runs = three_runs(make_dataset)
    sign_in(alice)
    page.goto(f"{runs.url}&kind=broke")
    hand = hand_of(page)
    bench = Bench(page, hand)
    in_both_schemes(page, is_accessible)
    select(hand, page, "q03", "q04")
    hand.press(bench.button("Accept"), "a")
    expect(page.locator("#messages")).to_contain_text("2 cases accepted.")
    state_is(page, "q03", "accepted")
    assert counts(runs) == (53, 2, 0, 0)
    select(hand, page, "q05")
    hand.press(bench.button("Reject"), "r")
    state_is(page, "q05", "rejected")
    hand.press(page.get_by_role("button", name="Undo"), "u")
    state_is(page, "q05", "open")
    select(hand, page, "q06")
    hand.press(page.locator("summary", has_text="Waive…"), "w")
    in_both_schemes(page, is_accessible)
    until = timezone.localdate() + timedelta(days=30)
    hand.press(bench.button("Waive cases"))  # without a reason the browser refuses
    expect(bench.field("Reason")).to_be_focused()
    hand.write(bench.field("Reason"), "Known bug 12.")
    hand.press(bench.button("Waive cases"))
    state_is(page, "q06", f"waived until {until:%-d %b %Y}")
    waiver = Waiver.objects.get()
    assert (waiver.until, waiver.owner, waiver.reason) == (until, alice, "Known bug 12.")
    assert counts(runs) == (52, 2, 0, 1)
    hand.press(bench.link("Waived 1"))
    expect(page.locator("#cases tbody tr")).to_have_count(1)
    select(hand, page, "q06")
    hand.press(bench.button("Reopen"), "o")
    expect(page.get_by_role("heading", name="No case fits")).to_be_visible()
    assert counts(runs) == (53, 2, 0, 0)
    forgive_422(complaints)


def test_a_key_without_a_row_does_nothing(
    page: Page, sign_in: Callable[[User], None], alice: User, make_dataset: MakeDataset
) -> None:
    runs = three_runs(make_dataset)
    sign_in(alice)
    page.goto(f"{runs.url}&kind=broke")
    has_settled(page)
    page.keyboard.press("a")
    page.keyboard.press("j")
    page.keyboard.press("r")  # the row that has the focus
    expect(page.locator("#messages")).to_contain_text("1 case rejected.")
    assert counts(runs) == (54, 0, 1, 0)


def test_what_a_colleague_decides_meanwhile_is_shown_before_it_is_replaced(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    bob: User,
    make_dataset: MakeDataset,
    is_accessible: Callable[[Page], None],
    complaints: list[str],
) -> None:
    """Also where the case was ticked before the page of the list was turned."""
    runs = three_runs(make_dataset)
    sign_in(alice)
    page.goto(f"{runs.url}&kind=broke")
    hand = ByMouse(page)
    bench = Bench(page, hand)
    select(hand, page, "q03")
    output = runs.new.output_set.outputs.get(case__key="q03")
    rejected = CaseDecisionState.REJECTED
    CaseDecision.objects.decide((runs.old, runs.new), [output.pk], rejected, by=bob, reason="Bad.")
    hand.press(page.locator(".pager").get_by_role("link", name="Next"))
    select(hand, page, "q56")
    count = page.locator("#selected-count")
    expect(count).to_have_text("2 (1 on other pages) selected")
    bench.field("Note on what is accepted or rejected").fill("Both fine.")
    hand.press(bench.button("Accept"))
    expect(page.locator("#messages")).to_contain_text("rejected q03 (Bad). Nothing was changed.")
    expect(count).to_have_text("2 (1 on other pages) selected")
    expect(bench.field("Note on what is accepted or rejected")).to_have_value("Both fine.")
    in_both_schemes(page, is_accessible)
    assert counts(runs) == (54, 0, 1, 0)
    hand.press(bench.button("Accept"))
    expect(page.locator("#messages")).to_contain_text("2 cases accepted.")
    assert counts(runs) == (53, 2, 0, 0)
    assert all("409" in complaint for complaint in complaints)
    complaints.clear()


@pytest.mark.parametrize("hand_of", HANDS)
def test_the_waivers_of_a_dataset(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    make_dataset: MakeDataset,
    is_accessible: Callable[[Page], None],
    hand_of: Callable[[Page], Hand],
) -> None:
    runs = three_runs(make_dataset)
    waive(runs.new, "q03", "close", alice)
    sign_in(alice)
    dataset = runs.new.output_set.version.dataset
    page.goto(reverse("dataset_waivers", args=[dataset.uuid]))
    in_both_schemes(page, is_accessible)
    hand = hand_of(page)
    hand.press(page.get_by_role("button", name="End waiver of q03 for close"))
    expect(page.locator("#messages")).to_contain_text("Waiver of q03 ended.")
    hand.press(page.get_by_role("button", name="Undo"), "u")
    expect(page.locator("#messages")).to_contain_text("Waiver of q03 restored.")


@pytest.mark.parametrize("hand_of", HANDS)
def test_a_release_is_decided(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    make_dataset: MakeDataset,
    is_accessible: Callable[[Page], None],
    hand_of: Callable[[Page], Hand],
) -> None:
    runs = three_runs(make_dataset)
    sign_in(alice)
    page.goto(reverse("run", args=[runs.new.uuid]))
    hand = hand_of(page)
    bench = Bench(page, hand)
    bench.follow("Release", "Release")
    in_both_schemes(page, is_accessible)
    hand.write(bench.field("Reason"), "Too many broke.")
    hand.press(bench.button("Reject release"))
    expect(page.locator("#messages")).to_contain_text("Run rejected.")
    expect(page.locator(".release-state")).to_contain_text("rejected by")
    in_both_schemes(page, is_accessible)
    hand.press(page.get_by_role("button", name="Undo"), "u")
    expect(page.locator("#messages")).to_contain_text("Decision withdrawn.")
    expect(page.locator(".release-state")).to_contain_text("not decided")


@pytest.mark.parametrize("hand_of", HANDS)
def test_gates_are_checked(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    make_dataset: MakeDataset,
    is_accessible: Callable[[Page], None],
    complaints: list[str],
    hand_of: Callable[[Page], Hand],
) -> None:
    runs = three_runs(make_dataset)
    waive(runs.new, "q03", "close", alice)
    sign_in(alice)
    page.goto(reverse("run", args=[runs.new.uuid]))
    hand = hand_of(page)
    bench = Bench(page, hand)
    bench.follow("Gates", "Gates")
    in_both_schemes(page, is_accessible)
    hand.write(bench.field("Gate 1"), "regressions<=0")
    hand.write(bench.field("Gate 2"), "pass_rate>=0")
    hand.press(bench.button("Check gates"))
    results = page.locator("main table").first.locator("tbody tr")
    expect(results).to_have_count(2)
    expect(results.first).to_contain_text("failed")
    expect(results.first).to_contain_text("1 waived")
    expect(results.last).to_contain_text("passed")
    assert "gate=regressions%3C%3D0&gate=pass_rate%3E%3D0" in page.url
    expect(page.get_by_role("heading", name="Waivers used")).to_be_visible()
    in_both_schemes(page, is_accessible)
    hand.write(bench.field("Gate 3"), "pass_rate")
    hand.press(bench.button("Check gates"))
    expect(page.get_by_role("alert")).to_contain_text("cannot be read")
    expect(bench.field("Gate 3")).to_have_value("pass_rate")
    forgive_422(complaints)
