"""What a reader can ask of a case's texts: white space marked, by mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Run, User
from tests.browser.comparing import Check, Keys, has_settled, in_both_schemes, stays
from tests.conftest import MakeDataset, MakeOutputs
from tests.scored import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]

TEXT = "two  words\tand\na  tail"


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
    expect(space.locator("[aria-current]")).to_have_text("spaces marked")
    space.get_by_role("link", name="spaces plain").click()
    expect(case.locator(".gap-space")).to_have_count(0)
