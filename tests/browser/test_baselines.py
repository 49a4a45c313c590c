"""The baseline of a series in the browser: pinned, replaced, taken back, refused with reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import AuditEntry, Baseline, Output, OutputSet, Run, User
from tests.browser.compare_steps import Check, Keys, in_both_schemes
from tests.browser.walk import Walk
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    version = make_dataset([{"key": f"q{n}", "expected": "yes"} for n in range(3)])
    return make_outputs(version, ["yes", "no", "yes"])


@pytest.fixture
def runs(outputs: OutputSet) -> list[Run]:
    return [finished_run(outputs, name=name) for name in ("w45", "w46", "w47")]


def address(run: Run) -> str:
    return reverse("run", args=[run.uuid])


def test_a_baseline_is_pinned_replaced_and_taken_back(
    page: Page, sign_in: SignIn, is_accessible: Check, alice: User, runs: list[Run]
) -> None:
    walk = Walk(page)
    sign_in(alice)
    page.goto(address(runs[0]))
    walk.press("Set as baseline")
    expect(page.get_by_text("Runs of the series a are now compared with this one.")).to_be_visible()
    expect(page.locator(".tag-baseline")).to_have_text("baseline")
    in_both_schemes(page, is_accessible)

    page.goto(address(runs[2]))
    expect(page.get_by_role("link", name="Compare with w45")).to_be_visible()
    page.goto(address(runs[1]))
    walk.press("Set as baseline")
    expect(page.locator(".tag-baseline")).to_be_visible()
    page.goto(reverse("runs", args=[runs[0].team.slug]))
    marked = page.get_by_role("row").filter(has=page.locator(".tag-baseline"))
    expect(marked.get_by_role("link")).to_have_text("w46")
    page.goto(address(runs[0]))
    expect(page.get_by_role("link", name="Compare with w46")).to_be_visible()

    page.goto(address(runs[1]))
    walk.press("Unpin baseline")
    expect(page.get_by_text("The baseline is taken back")).to_be_visible()
    expect(page.locator(".tag-baseline")).to_have_count(0)
    is_accessible(page)
    assert not Baseline.objects.exists()


def test_keys_alone_pin_a_run_and_take_it_back(
    page: Page, sign_in: SignIn, alice: User, runs: list[Run]
) -> None:
    keys = Keys(page)
    sign_in(alice)
    page.goto(address(runs[0]))
    keys.open("Set as baseline")
    expect(page.get_by_role("button", name="Unpin baseline")).to_be_visible()
    keys.open("Unpin baseline")
    expect(page.get_by_role("button", name="Set as baseline")).to_be_visible()
    actions = AuditEntry.objects.filter(action__startswith="baseline.").order_by("pk")
    assert [each.action for each in actions] == ["baseline.pinned", "baseline.unpinned"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("error", "1 case has an error: score the errors again first."),
        ("partial", "1 case of the dataset version without an output"),
    ],
)
def test_a_run_that_is_no_measure_is_refused_with_the_reason(
    page: Page, sign_in: SignIn, is_accessible: Check, alice: User, outputs: OutputSet,
    broken: str, reason: str,
) -> None:  # fmt: skip
    last = Output.objects.filter(output_set=outputs, case__position=3)
    if broken == "error":
        last.update(text=None, error="timeout")
    else:
        last.delete()
        OutputSet.objects.filter(pk=outputs.pk).update(output_count=2)
        outputs.refresh_from_db()
    run = finished_run(outputs, name="w45")
    sign_in(alice)
    page.goto(address(run))
    Walk(page).press("Set as baseline")
    expect(page.locator(".notice").filter(has_text=reason)).to_be_visible()
    in_both_schemes(page, is_accessible)
    assert not Baseline.objects.exists()
