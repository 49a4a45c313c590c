"""Outputs made by a run, from the connection to the trials side by side, in a real browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from scoring.engine.jobs import job_queue
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Job, Run, Scorer, Suite, Team, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.pages.runs.generation.steps import address, connected, work_begins
from tests.stub import Asked, Stub, wire
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
CITIES = ["Paris", "Rome", "Oslo"]


@pytest.fixture
def stub(stub: Stub, settings: Settings) -> Stub:
    """A model that always knows Paris, never Rome, and Oslo only when asked at first."""
    settings.EVALSITE_MODEL_HOSTS = stub.hosts
    times: Counter[str] = Counter()

    def answer(asked: Asked) -> wire.Answer:
        city = asked.user.removeprefix("Name ").removesuffix(".")
        times[city] += 1
        is_known = city == "Paris" or (city == "Oslo" and times[city] == 1)
        return wire.completion(city if is_known else "somewhere")

    stub.play("cities", answer)
    return stub


@pytest.fixture(autouse=True)
def dataset(team: Team, make_dataset: MakeDataset) -> str:
    cases = [{"key": city, "input": {"city": city}, "expected": city} for city in CITIES]
    made = make_dataset(cases, "Cities").dataset
    scorer = Scorer.objects.define(team, "same", "exact_match", {})
    Suite.objects.define(team, "release", [(scorer, None)])
    return address(made)


def connect(walk: Walk, page: Page, team: Team, stub: Stub) -> None:
    page.goto(reverse("new_connection", args=[team.slug]))
    page.get_by_label("Name", exact=True).fill("own")
    page.get_by_role("textbox", name="Base URL").fill(stub.url("cities"))
    page.get_by_label("Model", exact=True).first.fill("stub-1")
    page.get_by_label("US$ per million tokens in").first.fill("100")
    page.get_by_label("US$ per million tokens out").first.fill("0")
    walk.press("Save the connection")
    walk.is_at("own")


def try_one(
    page: Page, is_accessible: Callable[[Page], None], let_time_pass: Callable[[], None]
) -> None:
    """A prompt is tried; the worker's part is done in a thread, as there."""
    work_begins()
    page.get_by_role("button", name="Try it on Paris").click()
    expect(page.get_by_text("The model is asked.")).to_be_visible()
    with ThreadPool(1) as threads:
        for job in Job.objects.unfinished().select_related("team"):
            threads.submit(job_queue.run_job, job).result(DEADLINE_SECONDS)
    let_time_pass()
    expect(page.get_by_role("region", name="Answer, scrollable")).to_have_text("Paris")
    expect(page.locator("#answer")).to_contain_text("$0.01")
    is_accessible(page)


def work() -> Run:
    run = Run.objects.get()
    with ThreadPool() as threads:
        run_to_end(run, threads)
    return run


def test_outputs_are_made_scored_and_shown_trial_by_trial(
    page: Page,
    sign_in: SignIn,
    is_accessible: Callable[[Page], None],
    alice: User,
    team: Team,
    stub: Stub,
    let_time_pass: Callable[[], None],
) -> None:
    walk = Walk(page)
    sign_in(alice)
    connect(walk, page, team, stub)
    walk.open_dataset("Cities")
    walk.follow("Generate outputs", page.locator(".page-actions"))
    is_accessible(page)
    page.get_by_label("Model").fill("stub-1")
    page.get_by_label("Prompt", exact=True).fill("Name {{ input.city }}.")
    page.get_by_label("Trials").fill("2")
    page.get_by_label("Suite").select_option(label="release")
    page.get_by_label("Budget, in US dollars").fill("5")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("Name Oslo.")
    expect(preview.get_by_role("row").filter(has_text="Outputs")).to_contain_text("6")
    is_accessible(page)
    try_one(page, is_accessible, let_time_pass)

    walk.press("Start the run")
    expect(page.get_by_text("How the outputs were made")).to_be_visible()
    is_accessible(page)
    work()
    let_time_pass()
    walk.wait_for_the_end()
    facts = page.locator(".facts-line").first
    expect(facts).to_contain_text("outputs $0.06")
    expect(facts).to_contain_text("budget $5.00, $4.94 left")
    expect(facts).to_contain_text("6 outputs of 3 cases")
    expect(page.locator(".verdicts").get_by_role("link", name="1 pass")).to_be_visible()
    expect(page.get_by_text("Of the outputs 3 pass, 3 fail")).to_be_visible()
    is_accessible(page)

    page.get_by_label("A case counts as").select_option("pass@2")
    page.wait_for_url(re.compile("trials=pass%402"))
    expect(page.get_by_role("row").filter(has_text="exact_match")).to_contain_text("66.7")
    page.get_by_role("link", name="unsteady 1").click()
    expect(page.locator("#cases tbody tr")).to_have_count(2)
    expect(page.locator("#cases")).to_contain_text("unsteady by same")
    page.locator("#cases tbody a").first.click()
    walk.is_at("Oslo")
    trials = page.get_by_role("region", name="Trials of this case")
    expect(trials).to_contain_text("some pass, others fail")
    is_accessible(page)
    this_one = trials.get_by_role("row").filter(has_text="this one")
    # Both trials are asked for at the same time; either may come first and know the answer.
    other = "Oslo" if "somewhere" in this_one.inner_text() else "somewhere"
    trials.get_by_role("link").click()
    expect(this_one).to_contain_text(other)


def test_without_scripts_buttons_show_what_is_asked(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: SignIn,
    alice: User,
    team: Team,
    stub: Stub,
    dataset: str,
) -> None:
    connected(team, url=stub.url("cities"))
    sign_in(alice)
    state = page.context.storage_state()
    plain = chromium.new_page(
        base_url=live_server.url, java_script_enabled=False, storage_state=state
    )
    plain.goto(dataset)
    plain.get_by_label("Model").fill("stub-1")
    plain.get_by_label("Prompt", exact=True).fill("Name {{ input.city }}.")
    plain.get_by_label("Suite").select_option(label="release")
    plain.get_by_role("button", name="Preview prompts and cost").click()
    preview = plain.locator("#preview")
    expect(preview).to_contain_text("Name Oslo.")
    expect(preview.get_by_role("row").filter(has_text="Outputs")).to_contain_text("3")
    plain.get_by_role("button", name="Start the run").click()
    expect(plain.get_by_text("How the outputs were made")).to_be_visible()
    work()
    plain.reload()
    expect(plain.get_by_role("heading", name="Cases by verdict")).to_be_visible()
    plain.close()
