"""Two runs compared in the browser: by mouse, by keys alone, without scripts, while one waits."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Job, Output, Run, Team, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COUNT = 60


@pytest.fixture
def runs(team: Team, make_dataset: MakeDataset) -> tuple[Run, Run]:
    """Of 60 cases 55 broke, 1 was fixed; the outputs differ in a word."""
    cases = [
        {"key": f"q{n:02}", "input": f"Question {n}", "expected": "paid on time", "tags": ["all"]}
        for n in range(COUNT)
    ]
    version = make_dataset(cases)
    before = [0.9] * 59 + [0.1]
    after = [0.2] * 55 + [0.9] * 5
    old = run_with(version, {"close": before, "far": [0.9] * COUNT}, name="w45")
    new = run_with(version, {"close": after, "far": [0.9] * COUNT}, name="w46")
    for run, text in ((old, "paid on Monday"), (new, "paid on Tuesday")):
        Output.objects.filter(output_set=run.output_set).update(text=text)
    return old, new


def address(old: Run, new: Run) -> str:
    return f"{reverse('compare', args=[old.team.slug])}?baseline={old.uuid}&candidate={new.uuid}"


def test_from_the_run_to_a_case_side_by_side(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    runs: tuple[Run, Run],
) -> None:
    walk = Walk(page)
    sign_in(alice)
    page.goto(reverse("run", args=[runs[1].uuid]))
    walk.follow("Compare with w45")
    walk.is_at("w46 compared with w45")
    expect(page.get_by_text("55 of 60 cases broke, 1 was fixed").first).to_be_visible()
    is_accessible(page)

    walk.follow("far", page.get_by_role("navigation", name="Scorer of the charts"))
    expect(page.get_by_role("heading", name="Scores of far")).to_be_visible()
    page.get_by_text("View as table").click()
    is_accessible(page)

    walk.follow("Next")
    expect(page.get_by_role("link", name="q50")).to_be_visible()
    walk.follow("Fixed", page.get_by_role("navigation", name="What became of the cases"))
    expect(page).to_have_url(re.compile("kind=fixed"))
    walk.follow("q59")
    walk.is_at("q59")
    expect(page.locator("ins")).to_have_text(["Tues"])
    walk.follow("expected and this run")
    expect(page.locator("ins").first).to_have_text("Tuesday")
    walk.follow("as it is")
    expect(page.locator("ins")).to_have_count(0)
    is_accessible(page)
    walk.follow("w45: fail", page.locator(".strip"))
    walk.is_at("q59")
    expect(page).to_have_url(re.compile(str(runs[0].uuid)))


def test_keys_alone_lead_through_the_list(
    page: Page, sign_in: Callable[[User], None], alice: User, runs: tuple[Run, Run]
) -> None:
    def has_come(key: str) -> None:
        Walk(page).is_at(key)
        page.wait_for_load_state()

    sign_in(alice)
    page.goto(address(*runs))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    has_come("q01")
    page.keyboard.press("j")
    has_come("q02")
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile("between=expected"))
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile("between=expected&diff=char"))
    page.keyboard.press("k")
    Walk(page).is_at("q01")
    expect(page).to_have_url(re.compile("between=expected&diff=char"))


def test_runs_are_chosen_and_compared_without_scripts(
    chromium: Browser,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    context: object,
    alice: User,
    runs: tuple[Run, Run],
) -> None:
    sign_in(alice)
    cookies = context.cookies()  # type: ignore[attr-defined]
    plain = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    plain.add_cookies(cookies)
    page = plain.new_page()
    page.goto(reverse("team_home", args=[runs[0].team.slug]))
    Walk(page).go_to("Compare")
    Walk(page).press("Compare")
    Walk(page).is_at("w46 compared with w45")
    Walk(page).follow("q00")
    expect(page.locator("ins")).to_have_text(["Tues"])
    plain.close()


def test_a_large_comparison_appears_once_it_is_there(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    runs: tuple[Run, Run],
    monkeypatch: pytest.MonkeyPatch,
    let_time_pass: Callable[[], None],
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", 0)
    sign_in(alice)
    page.goto(address(*runs))
    expect(page.get_by_text("No worker: start")).to_be_visible()
    is_accessible(page)
    with ThreadPool(1) as threads:
        for job in Job.objects.unfinished().select_related("team"):
            threads.submit(job_queue.run_job, job).result(DEADLINE_SECONDS)
    let_time_pass()
    expect(page.get_by_text("55 of 60 cases broke").first).to_be_visible()


def test_nothing_scrolls_sideways_on_a_phone(
    page: Page, sign_in: Callable[[User], None], alice: User, runs: tuple[Run, Run]
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    sign_in(alice)
    case = reverse("run_case", args=[runs[1].uuid, 1])
    for url in (address(*runs), f"{case}?against={runs[0].uuid}&kind=broke"):
        page.goto(url)
        over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(over) <= 0
