"""A reviewer proposes an expected value, an editor approves it: by mouse and by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Case, Correction, Member, Role, Run, Team, User
from tests.browser.actions import HANDS, Hand
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n}", "input": "?", "expected": "yes"} for n in range(2)]
    return finished_run(make_outputs(make_dataset(cases), ["yes", "certainly"]), CLOSE)


def member(team: Team, email: str, role: Role) -> User:
    user = User.objects.create_user(email)
    Member.objects.create(team=team, user=user, role=role)
    return user


@pytest.mark.parametrize("hand", HANDS)
def test_a_correction_goes_from_the_case_into_a_version_and_a_new_run(
    page: Page,
    sign_in: Callable[[User], None],
    team: Team,
    run: Run,
    is_accessible: Check,
    hand: Callable[[Page], Hand],
) -> None:
    sign_in(member(team, "rita@example.org", Role.REVIEWER))
    person = hand(page)
    page.goto(reverse("run_case", args=[run.uuid, 2]))
    person.press(page.locator("#propose summary"))
    person.write(page.get_by_label("New expected value"), "certainly")
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("button", name="Propose"))
    expect(page.locator("#messages")).to_contain_text("Correction proposed.")
    sign_in(member(team, "erin@example.org", Role.EDITOR))
    page.goto(reverse("dataset_corrections", args=[run.output_set.version.dataset.uuid]))
    in_both_schemes(page, is_accessible)
    person.tick(page.get_by_label("Select q1"))
    person.press(page.get_by_role("button", name="Approve selected"))
    expect(page.locator("#messages")).to_contain_text("version 2 is published")
    in_both_schemes(page, is_accessible)
    assert Case.objects.get(version__number=2, key="q1").expected == "certainly"
    assert Correction.objects.get().version is not None
    person.press(page.get_by_role("button", name="Re-score with…"))
    expect(page.get_by_role("heading", level=1)).to_have_text("New run")
    expect(page.get_by_label("Output set")).to_contain_text("version 2")
