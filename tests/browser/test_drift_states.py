"""What drift shows where there is little to show, and how its parts are reached by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine.drift import jobs
from scoring.engine.jobs import job_queue
from scoring.models import DatasetVersion, Job, Run, Team, User
from tests.browser.compare_steps import Check, Keys, in_both_schemes
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "tags": ["billing", "late"][n % 2 :]} for n in range(4)])


def address(version: DatasetVersion, query: str = "") -> str:
    return reverse("dataset_drift", args=[version.dataset.uuid]) + query


def weeks(version: DatasetVersion, count: int, series: str = "bot") -> list[Run]:
    """Weekly runs; of every second one case flips."""
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    return [
        run_in_week(version, week, 0.8 + week % 2 / 100, "pppf" if week % 2 else "ppff",
                    scorers=both, series=series)
        for week in range(count)
    ]  # fmt: skip


def test_without_runs_both_pages_say_what_to_do(
    page: Page, sign_in: SignIn, is_accessible: Check, bob: User, team: Team,
    version: DatasetVersion,
) -> None:  # fmt: skip
    sign_in(bob)
    for url in (address(version), reverse("team_drift", args=[team.slug])):
        page.goto(url)
        expect(page.get_by_text("No finished runs yet")).to_be_visible()
        in_both_schemes(page, is_accessible)


@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_few_runs_are_drawn_without_limits_and_say_so(
    page: Page, sign_in: SignIn, is_accessible: Check, bob: User, team: Team,
    version: DatasetVersion, count: int,
) -> None:  # fmt: skip
    weeks(version, count)
    sign_in(bob)
    page.goto(address(version, "?scorer=close"))
    needed = f"Not enough runs for control limits: {count} run{'s' * (count > 1)}, 8 are needed."
    expect(page.get_by_text(needed)).to_be_visible()
    expect(page.locator("[data-drift-mark]")).to_have_count(count)
    expect(page.locator(".drift-limit")).to_have_count(0)
    expect(page.locator(".drift-whisker")).to_have_count(int(count == 1))
    in_both_schemes(page, is_accessible)
    page.goto(reverse("team_drift", args=[team.slug]))
    quiet = "Not enough runs: 1 of 2." if count == 1 else "No significant change."
    expect(page.get_by_text(quiet)).to_be_visible()
    expect(page.locator(".spark-dot")).to_have_count(int(count == 1))
    is_accessible(page)


def test_a_line_that_is_not_there_leads_to_those_that_are(
    page: Page, sign_in: SignIn, is_accessible: Check, bob: User, version: DatasetVersion
) -> None:
    weeks(version, 2)
    weeks(version, 2, series="other")
    run_in_week(version, 5, scorers=[scorer_of(version, "late")], series="bot", letters="pppp")
    sign_in(bob)
    page.goto(address(version, "?scorer=late&series=other"))
    expect(page.get_by_text("No run of this series was scored by this scorer.")).to_be_visible()
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Show every line").click()
    expect(page.get_by_text("4 of 5 lines are drawn.")).to_be_visible()


def test_figures_that_are_still_worked_out_are_announced(
    page: Page, sign_in: SignIn, is_accessible: Check, bob: User, version: DatasetVersion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    weeks(version, 3)
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 1)
    sign_in(bob)
    page.goto(address(version, "?scorer=close"))
    expect(page.locator("#measuring")).to_contain_text("they appear when")
    expect(page.locator("[data-drift-mark]")).to_have_count(3)
    in_both_schemes(page, is_accessible)


def test_choosing_a_scorer_and_the_end_of_the_measuring_stay_on_the_page(
    page: Page, sign_in: SignIn, bob: User, version: DatasetVersion,
    monkeypatch: pytest.MonkeyPatch, let_time_pass: Callable[[], None],
) -> None:  # fmt: skip
    weeks(version, 3)
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 1)
    sign_in(bob)
    page.goto(address(version))
    page.evaluate("window.isSamePage = true")
    scorer = page.get_by_label("Scorer", exact=True)
    scorer.focus()
    scorer.select_option("same")
    expect(page).to_have_url(re.compile("scorer=same"))
    expect(page.locator("[data-says=drift]")).to_contain_text("same in bot")
    expect(scorer).to_be_focused()
    job_queue.run_job(Job.objects.get())
    let_time_pass()
    expect(page.locator("#measuring")).to_have_count(0)
    expect(page.locator(".drift-flips")).to_have_count(2)
    page.locator('[data-drift-mark][tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-drift-mark]").nth(1)).to_be_focused()
    page.go_back()
    expect(page.locator("[data-drift]")).to_have_count(2)
    expect(page.locator('[data-drift-mark][tabindex="0"]')).to_have_count(2)
    assert page.evaluate("window.isSamePage")


def test_keys_alone_choose_series_and_walk_the_table(
    page: Page, sign_in: SignIn, bob: User, version: DatasetVersion
) -> None:
    runs = weeks(version, 9)
    weeks(version, 2, series="other")
    keys = Keys(page)
    sign_in(bob)
    page.goto(address(version, "?scorer=same"))
    keys.to("bot")
    keys.press("Space")
    keys.open("Show")
    expect(page.get_by_role("heading", level=2)).to_have_text(["same"])
    assert page.url.endswith("?scorer=same&series=bot")
    keys.to("The same as a table")
    keys.press("Enter", "Enter")
    expect(page.get_by_role("columnheader", name="Mean (95 %)")).to_be_visible()
    keys.press("j", "j", "Enter")
    Walk(page).is_at("w7")
    page.go_back()
    keys.open("Compare w8 with the run before")
    page.wait_for_url(re.compile(f"baseline={runs[7].uuid}&candidate={runs[8].uuid}"))


def test_many_runs_fit_a_phone_and_a_printed_page(
    page: Page, sign_in: SignIn, bob: User, version: DatasetVersion
) -> None:
    weeks(version, 40)
    sign_in(bob)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(address(version, "?scorer=close"))
    assert page.evaluate(OVERFLOW) <= 0
    page.set_viewport_size({"width": 794, "height": 1123})
    page.locator("[data-drift-mark]").last.focus()
    cross, ring = page.locator("[data-drift-cross]").first, page.locator(".is-at .drift-reach")
    expect(cross).to_have_css("visibility", "visible")
    page.emulate_media(media="print")
    assert page.evaluate(OVERFLOW) <= 0
    expect(page.get_by_role("button", name="Show")).to_be_hidden()
    for of_a_screen in (cross, ring, page.locator("[data-drift-readout]")):
        expect(of_a_screen).to_have_css("display", "none")
    expect(page.get_by_role("columnheader", name="Mean (95 %)")).to_be_visible()
