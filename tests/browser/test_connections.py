"""Making and testing a connection in the browser, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from scoring.engine.jobs import job_queue
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Connection, Job, Team, User
from tests.browser.walk import Walk
from tests.stub.scenarios import RIGHT_KEY
from tests.stub.server import Stub
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def work() -> None:
    """What the worker would do, in a thread as there: this one has the browser's event loop."""
    with ThreadPool(1) as threads:
        for job in Job.objects.unfinished().select_related("team"):
            threads.submit(job_queue.run_job, job).result(DEADLINE_SECONDS)


def test_a_connection_is_made_tested_and_removed_and_every_page_is_accessible(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    complaints: list[str],
    settings: Settings,
    alice: User,
    team: Team,
) -> None:
    walk = Walk(page)
    with Stub() as stub:
        sign_in(alice)
        page.goto(reverse("team_home", args=[team.slug]))
        walk.follow("Connections")
        is_accessible(page)
        walk.follow("New connection")
        is_accessible(page)
        page.get_by_label("Name", exact=True).fill("stub")
        page.get_by_role("textbox", name="Base URL").fill(stub.url("keyed"))
        page.get_by_label("API key").fill(RIGHT_KEY)
        page.get_by_label("Model", exact=True).first.fill("stub-1")
        walk.press("Save the connection")
        line = page.get_by_text(f"EVALSITE_MODEL_HOSTS=127.0.0.1:{stub.port}")
        expect(line).to_be_visible()
        is_accessible(page)
        assert all("422" in complaint for complaint in complaints)
        complaints.clear()

        settings.EVALSITE_MODEL_HOSTS = stub.hosts
        expect(page.get_by_label("API key")).to_have_value("")
        page.get_by_label("API key").fill(RIGHT_KEY)
        walk.press("Save the connection")
        walk.is_at("stub")
        is_accessible(page)
        walk.press("Test the connection")
        expect(page.get_by_text("no worker: start manage.py worker")).to_be_visible()
        is_accessible(page)
        work()
        expect(page.get_by_text("Paris is the capital of France.")).to_be_visible()
        is_accessible(page)

    walk.follow("Remove")
    is_accessible(page)
    walk.press("Remove stub")
    expect(page.get_by_text("No connections yet")).to_be_visible()


def test_without_scripts_a_test_is_read_by_reloading(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: Callable[[User], None],
    settings: Settings,
    alice: User,
    team: Team,
) -> None:
    with Stub() as stub:
        settings.EVALSITE_MODEL_HOSTS = stub.hosts
        own = Connection.objects.define(team, "stub", stub.url(), by=alice)
        sign_in(alice)
        state = page.context.storage_state()
        plain = chromium.new_page(
            base_url=live_server.url, java_script_enabled=False, storage_state=state
        )
        plain.goto(reverse("connection", args=[team.slug, own.uuid]))
        plain.get_by_role("button", name="Test the connection").click()
        work()
        plain.get_by_role("link", name="Refresh").click()
        expect(plain.get_by_text("it offers 2 models")).to_be_visible()
        plain.get_by_label("Model", exact=True).first.fill("stub-1")
        plain.get_by_role("button", name="Save").click()
        expect(plain.get_by_text("Saved.", exact=True)).to_be_visible()
        plain.close()
    assert [row["name"] for row in Connection.objects.get().offered] == ["stub-1"]
