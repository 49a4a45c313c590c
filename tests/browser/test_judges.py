"""A judge's quality in the browser: labels chosen, the noise checked, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from scoring.engine.jobs import job_queue
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Job, JudgeVariance, Run, Team, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.calibration.steps import at, connected, judged_run
from tests.stub import wire
from tests.stub.server import Stub
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COUNT = 6


def work() -> None:
    """What the worker would do, in a thread as there: this one has the browser's event loop."""
    with ThreadPool(1) as threads:
        for job in Job.objects.unfinished().select_related("team"):
            threads.submit(job_queue.run_job, job).result(DEADLINE_SECONDS)


@pytest.fixture
def runs(
    team: Team, settings: Settings, make_dataset: MakeDataset, make_outputs: MakeOutputs, stub: Stub
) -> tuple[Run, Run]:
    """A judge that always said a, in both orders; asked again it says b."""
    settings.EVALSITE_MODEL_HOSTS = stub.hosts
    connected(team, stub.play("changed", wire.verdict("b")))
    version = make_dataset([{"metadata": {"human": "ab"[n % 2]}} for n in range(COUNT)])
    made = [
        judged_run(
            make_outputs(version, [f"Answer {n}." for n in range(COUNT)], series),
            ["a"] * COUNT,
            series,
            hidden_metadata=["human"],
        )
        for series in ("first", "turned")
    ]
    return made[0], made[1]


def test_a_judge_is_measured_and_every_state_is_accessible(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    runs: tuple[Run, Run],
    stub: Stub,
) -> None:
    walk = Walk(page)
    sign_in(alice)
    page.goto(reverse("run", args=[runs[0].uuid]))
    walk.follow("judge quality")
    walk.is_at("Calibration of judge")
    expect(page.get_by_text("3 of 6, 50.0")).to_be_visible()
    expect(page.get_by_text("has not been checked yet")).to_be_visible()
    is_accessible(page)

    with page.expect_navigation():
        page.get_by_label("Run with swapped order").select_option(str(runs[1].uuid))
    bias = page.get_by_text("In 6 of 6 pairs, the judge chose the first position (a)")
    expect(bias).to_be_visible()
    is_accessible(page)

    expect(page.get_by_label("Outputs to judge again")).to_contain_text("6 · 6 calls, about $0.")
    walk.press("Run A/A check")
    expect(page.get_by_text("Judging 6 outputs again.")).to_be_visible()
    is_accessible(page)
    work()
    expect(page.get_by_text("6 of 6, 100.0")).to_be_visible()
    expect(page.get_by_text("−1.000")).to_be_visible()  # noqa: RUF001  a true minus sign
    is_accessible(page)
    assert len(stub.asked("changed")) == COUNT
    assert JudgeVariance.objects.get().requested_by == alice


def test_without_scripts_it_is_read_by_reloading(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    runs: tuple[Run, Run],
) -> None:
    sign_in(alice)
    state = page.context.storage_state()
    plain = chromium.new_page(
        base_url=live_server.url, java_script_enabled=False, storage_state=state
    )
    plain.goto(at(runs[0]))
    plain.get_by_label("Run with swapped order").select_option(str(runs[1].uuid))
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_text("Position decided 6 of 6 pairs")).to_be_visible()
    plain.get_by_role("button", name="Run A/A check").click()
    expect(plain.get_by_text("Judging 6 outputs again.")).to_be_visible()
    work()
    plain.get_by_role("link", name="Refresh").click()
    expect(plain.get_by_text("Verdicts that changed")).to_be_visible()
    plain.close()
