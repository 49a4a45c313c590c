"""The calibration of a run, by keyboard: from the run to a scorer, and on to its cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import ReviewVerdict, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import draw_sample, give_in_turn, outputs_of, scored_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASS, FAIL, UNSURE, _ = ReviewVerdict


def test_a_calibration_leads_to_the_cases_behind_its_figures(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    make_dataset: MakeDataset,
    alice: User,
    bob: User,
) -> None:
    version = make_dataset([{"expected": "yes"}] * 200)
    # Of so many digits as embeddings give: thresholds between them are long.
    scores = [0.904211, 0.113607, 0.904211, 0.113607, 0.904211, 0.113607] * 33 + [
        0.904211,
        0.113607,
    ]
    run = scored_run(version, {"close": scores, "strict": [*scores[:-2], 0.1, 0.9]})
    said = [PASS, PASS, PASS, FAIL, PASS, FAIL]
    give_in_turn(run, alice, [*said * 19, UNSURE])
    give_in_turn(run, bob, [*said[:5], PASS, *said * 5])
    draw_sample(outputs_of(run)[:120])
    walk = Walk(page)
    sign_in(bob)
    page.goto(reverse("run", args=[run.uuid]))
    expect(page.get_by_role("link", name="people:")).to_have_count(2)
    is_accessible(page)

    page.get_by_role("link", name="Calibration", exact=True).focus()
    page.keyboard.press("Enter")
    walk.is_at("Calibration")
    expect(page.get_by_text("random sample: 115 of 120 reviewed")).to_be_visible()
    expect(page.get_by_text("best agreement")).to_be_visible()
    is_accessible(page)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

    page.get_by_role("link", name="close").focus()
    page.keyboard.press("Enter")
    walk.is_at("Calibration of close")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    is_accessible(page)
    cell = page.locator(".matrix td").nth(2).get_by_role("link")
    count = cell.inner_text()
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cases")).to_contain_text("people: pass")
    expect(page.locator("#cases")).to_contain_text(f"of {count}" if int(count) > 50 else count)
