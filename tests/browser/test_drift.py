"""Drift in the browser: lines chosen, the crosshair by mouse and by keys, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import Baseline, DatasetVersion, Run, Team, User
from tests.browser.compare_steps import in_both_schemes
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MEANS = [0.90, 0.91, 0.90, 0.89, 0.91, 0.90, 0.60, 0.61, 0.90, 0.91]
LETTERS = ["pppf"] * 6 + ["ffpf"] * 2 + ["pppp"] * 2
LATEST, FALLEN = len(MEANS) - 1, 6


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}", "tags": ["billing"]} for number in range(4)])


@pytest.fixture
def runs(version: DatasetVersion) -> list[Run]:
    """A fall and its repair, seen by two scorers; the first run is pinned."""
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    made = [
        run_in_week(version, week, mean, letters, scorers=both, series="bot")
        for week, (mean, letters) in enumerate(zip(MEANS, LETTERS, strict=True))
    ]
    Baseline.objects.pin(made[0], by=None)
    run_in_week(version, 3, 0.7, "ppff", scorers=both[:1], series="other")
    return made


@pytest.fixture
def drift_url(version: DatasetVersion, runs: list[Run]) -> str:
    url = reverse("dataset_drift", args=[version.dataset.uuid])
    return f"{url}?scorer=close&series=bot"


def readout(page: Page) -> str:
    return page.locator("[data-drift-readout]").first.inner_text()


def compared(runs: list[Run], place: int) -> re.Pattern[str]:
    """The address of the comparison with the run before."""
    return re.compile(rf"/compare/\?baseline={runs[place - 1].uuid}&candidate={runs[place].uuid}$")


def test_from_the_bar_to_a_line_and_on_to_its_runs(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    bob: User,
    team: Team,
    runs: list[Run],
) -> None:
    sign_in(bob)
    page.goto(reverse("team_home", args=[team.slug]))
    walk = Walk(page)
    walk.go_to("Drift")
    is_accessible(page)
    page.get_by_role("row").filter(has_text="bot").get_by_role("link").click()
    expect(page.get_by_role("checkbox", name="bot")).to_be_checked()
    expect(page.get_by_role("heading", level=2)).to_have_text(["close", "same"])
    is_accessible(page)

    with page.expect_navigation():
        page.get_by_label("Scorer").select_option("close")
    expect(page.get_by_role("heading", level=2)).to_have_text(["close"])
    page.get_by_role("checkbox", name="other").check()
    walk.press("Show")
    expect(page.get_by_role("heading", level=2)).to_have_text(["close", "close"])
    assert page.url.endswith("?scorer=close&series=bot&series=other")
    is_accessible(page)


def test_the_crosshair_follows_the_mouse_and_a_click_opens(
    page: Page,
    sign_in: Callable[[User], None],
    bob: User,
    runs: list[Run],
    drift_url: str,
) -> None:
    sign_in(bob)
    page.goto(drift_url)
    assert readout(page).startswith("w9, ")
    marks = page.locator("[data-drift-mark]")
    marks.nth(FALLEN).hover()
    assert readout(page).startswith("w6, 16 Feb 2015: mean 0.600 [")
    cross = page.locator("[data-drift-cross]").first
    assert cross.get_attribute("x1") == marks.nth(FALLEN).get_attribute("data-drift-mark")
    expect(cross).to_have_css("visibility", "visible")
    page.get_by_role("heading", level=1).hover()
    expect(cross).to_have_css("visibility", "hidden")
    assert readout(page).startswith("w9, ")

    page.locator(".drift-flips").nth(FALLEN - 1).hover()
    assert readout(page) == "Compare w6 against the run before: 0 fixed, 2 broke, of 4"
    page.locator(".drift-flips").nth(FALLEN - 1).click()
    page.wait_for_url(compared(runs, FALLEN))
    page.go_back()
    marks.nth(FALLEN).click()
    page.wait_for_url(f"**{reverse('run', args=[runs[FALLEN].uuid])}")


def test_a_step_between_two_runs_opens_their_comparison(
    page: Page,
    sign_in: Callable[[User], None],
    bob: User,
    runs: list[Run],
    drift_url: str,
) -> None:
    sign_in(bob)
    page.goto(drift_url)
    boxes = [page.locator("[data-drift-mark] svg").nth(n).bounding_box() for n in (0, 1)]
    one, other = (box for box in boxes if box)
    middle = [(a[key] + b[key] + (a[size] + b[size]) / 2) / 2 for a, b, key, size in (
        (one, other, "x", "width"), (one, other, "y", "height"),
    )]  # fmt: skip
    page.mouse.click(*middle)
    page.wait_for_url(compared(runs, 1))


def test_by_keys_alone_a_chart_is_one_stop_and_the_arrows_walk(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    bob: User,
    runs: list[Run],
    drift_url: str,
) -> None:
    sign_in(bob)
    page.goto(drift_url)
    page.get_by_role("button", name="Show").focus()
    page.keyboard.press("Tab")
    assert readout(page).startswith("w9, ")
    for _ in range(LATEST - FALLEN):
        page.keyboard.press("ArrowLeft")
    assert readout(page).endswith("below the level")
    charts = page.get_by_role("group", name="Means of close in bot, 10 runs")
    point = charts.get_by_role("link", name=re.compile(r"^w6, 16 Feb 2015: mean 0\.600 .*level$"))
    expect(point).to_be_focused()  # so its name is what a screen reader says
    in_both_schemes(page, is_accessible)
    expect(point).to_be_focused()
    page.keyboard.press("ArrowDown")
    assert readout(page).startswith("Compare w6 ")
    flips = page.get_by_role(
        "link", name="Compare w6 against the run before: 0 fixed, 2 broke, of 4"
    )
    expect(flips.and_(page.locator(".drift-flips"))).to_be_focused()
    page.keyboard.press("Home")
    assert readout(page).startswith("Compare w1 ")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert "baseline" in readout(page)
    page.keyboard.press("ArrowLeft")
    assert readout(page).startswith("w0, ")
    page.keyboard.press("End")
    assert readout(page).startswith("w9, ")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-drift]')") is None
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(compared(runs, LATEST))


def test_without_scripts_marks_and_table_lead_on(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: Callable[[User], None],
    bob: User,
    runs: list[Run],
    drift_url: str,
) -> None:
    sign_in(bob)
    plain = chromium.new_page(
        base_url=live_server.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    )
    plain.goto(drift_url)
    expect(
        plain.get_by_text("w6 and w7 were below this level; back at it since w8.")
    ).to_be_visible()
    plain.get_by_role("link", name="Compare w6 with the run before").click()
    plain.wait_for_url(compared(runs, FALLEN))
    plain.goto(drift_url)
    plain.locator("[data-drift-mark]").nth(FALLEN).focus()
    plain.keyboard.press("Enter")
    plain.wait_for_url(f"**{reverse('run', args=[runs[FALLEN].uuid])}")
    plain.goto(drift_url)
    plain.get_by_label("Scorer").select_option("same")
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_role("heading", level=2)).to_have_text(["same"])
    plain.close()


def test_nothing_scrolls_sideways_at_any_width(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    bob: User,
    team: Team,
    drift_url: str,
) -> None:
    sign_in(bob)
    for url in (drift_url, reverse("team_drift", args=[team.slug])):
        page.goto(url)
        for width in (660, 360):
            page.set_viewport_size({"width": width, "height": 740})
            wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert page.evaluate(wide) is False, (url, width)
        in_both_schemes(page, is_accessible)
