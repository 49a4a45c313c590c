"""A third person decides disagreements: by mouse and by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import (
    Adjudication,
    Member,
    Output,
    Review,
    ReviewVerdict,
    Role,
    Run,
    Team,
    User,
)
from tests.browser.actions import HANDS, Hand
from tests.browser.compare_steps import has_settled, in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]


@pytest.fixture
def disputed(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Three cases; reviewers pass and fail each of them."""
    cases = [{"key": f"q{n}", "input": "?", "expected": "yes"} for n in range(3)]
    run = finished_run(make_outputs(make_dataset(cases), ["yes", "no", "yet"]), CLOSE)
    for output in Output.objects.all():
        for name, verdict in (("Tom", ReviewVerdict.PASS), ("Uma", ReviewVerdict.FAIL)):
            Review.objects.create(output=output, reviewer_name=name, verdict=verdict)
    return run


@pytest.mark.parametrize("hand", HANDS)
def test_disagreements_are_decided_one_after_another(
    page: Page,
    sign_in: Callable[[User], None],
    team: Team,
    disputed: Run,
    is_accessible: Check,
    hand: Callable[[Page], Hand],
) -> None:
    rita = User.objects.create_user("rita@example.org")
    Member.objects.create(team=team, user=rita, role=Role.REVIEWER)
    sign_in(rita)
    person = hand(page)
    page.goto(reverse("run", args=[disputed.uuid]))
    person.press(page.get_by_role("link", name="View disagreements"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Disagreements")
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("link", name="q0"))
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("q0")
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("button", name="fail"), "2")
    expect(heading).to_have_text("q1")
    has_settled(page)
    person.press(page.get_by_role("link", name="Skip", exact=True), "s")
    expect(heading).to_have_text("q2")
    has_settled(page)
    person.press(page.get_by_role("button", name="pass"), "1")
    expect(heading).to_have_text("q1")
    has_settled(page)
    page.keyboard.press("u")
    expect(heading).to_have_text("q2")
    has_settled(page)
    decided = Adjudication.objects.values_list("output__case__key", "verdict")
    assert list(decided) == [("q0", ReviewVerdict.FAIL)]
