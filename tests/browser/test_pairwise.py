"""Two outputs without names: compared by mouse and by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import Preference, QueueOrder, ReviewQueue, User
from tests.browser.actions import HANDS, Hand
from tests.browser.compare_steps import has_settled, in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]


@pytest.fixture
def queue(make_dataset: MakeDataset, make_outputs: MakeOutputs, rita: User) -> ReviewQueue:
    """Three pairs for Rita."""
    version = make_dataset([{"key": f"q{n}", "input": "?", "expected": "yes"} for n in range(3)])
    old = finished_run(make_outputs(version, ["yes", "no", "yet"], "gpt"), CLOSE, name="old")
    new = finished_run(make_outputs(version, ["Yes.", "No.", "Yet."], "llama"), CLOSE, name="new")
    plan = QueuePlan("pairs", [rita], 3, QueueOrder.RANDOM, baseline=old, seed=7)
    return create_queue(new, plan, rita)


@pytest.mark.parametrize("hand", HANDS)
def test_pairs_are_compared_one_after_another(
    page: Page,
    sign_in: Callable[[User], None],
    rita: User,
    queue: ReviewQueue,
    is_accessible: Check,
    hand: Callable[[Page], Hand],
) -> None:
    sign_in(rita)
    person = hand(page)
    page.goto(reverse("review_queue", args=[queue.uuid]))
    person.press(page.get_by_role("link", name="Start comparing"))
    progress = page.locator("[data-says=progress]")
    expect(progress).to_have_text("0 of 3 compared")
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("button", name="left is better"), "1")
    expect(progress).to_have_text("1 of 3 compared")
    has_settled(page)
    page.keyboard.press("u")
    expect(progress).to_have_text("0 of 3 compared")
    has_settled(page)
    person.press(page.get_by_role("button", name="same"), "2")
    expect(progress).to_have_text("1 of 3 compared")
    has_settled(page)
    person.press(page.get_by_role("button", name="right is better"), "3")
    expect(progress).to_have_text("2 of 3 compared")
    has_settled(page)
    person.press(page.get_by_role("button", name="left is better"), "1")
    expect(page.get_by_role("heading", name="Human preference")).to_be_visible()
    in_both_schemes(page, is_accessible)
    assert sorted(Preference.objects.values_list("verdict", flat=True)).count(0) == 1
    assert Preference.objects.count() == 3
