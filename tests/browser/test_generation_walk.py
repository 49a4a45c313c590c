"""From a dataset to the page of a case whose output a run made, by keys alone and by mouse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Run, Scorer, Suite, Team, User
from tests.browser.actions import HANDS, Bench
from tests.browser.compare_steps import in_both_schemes, stays
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset
from tests.pages.runs.generation.steps import connected
from tests.stub import Asked, Stub, wire

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
CITIES = ["Paris", "Rome", "Oslo"]


@pytest.fixture
def stub(stub: Stub, settings: Settings) -> Stub:
    """A model that knows every city but Rome."""
    settings.EVALSITE_MODEL_HOSTS = stub.hosts

    def answer(asked: Asked) -> wire.Answer:
        city = asked.user.removeprefix("Name ").removesuffix(".")
        return wire.completion("Milan" if city == "Rome" else city)

    stub.play("cities", answer)
    return stub


@pytest.fixture(params=HANDS)
def bench(
    request: pytest.FixtureRequest,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    stub: Stub,
) -> Bench:
    """At the list of datasets, with a connection and a suite there to be used."""
    cases = [{"key": city, "input": {"city": city}, "expected": city} for city in CITIES]
    make_dataset(cases, "Cities")
    scorer = Scorer.objects.define(team, "same", "exact_match", {})
    Suite.objects.define(team, "release", [(scorer, None)])
    connected(team, url=stub.url("cities"))
    sign_in(alice)
    page.goto(reverse("datasets", args=[team.slug]))
    return Bench(page, request.param(page))


def fill_in(bench: Bench) -> None:
    """What the run is to ask; the preview follows what is typed."""
    bench.hand.write(bench.field("Model"), "stub-1")
    bench.hand.write(bench.field("Prompt"), "Name {{ input.city }}.")
    bench.hand.choose(bench.field("Suite"), "release")
    bench.hand.write(bench.field("Budget, in US dollars"), "5")
    bench.hand.write(bench.field("Name"), "first try")
    preview = bench.region("Preview")
    expect(preview).to_contain_text("Name Oslo.")
    expect(preview.get_by_role("row").filter(has_text="Outputs")).to_contain_text("3")


def work() -> None:
    """The worker's part, done here and now."""
    with ThreadPool() as threads:
        run_to_end(Run.objects.get(), threads)


@pytest.mark.long("one long walk by the tab key alone")
def test_outputs_are_made_previewed_scored_and_read(
    bench: Bench,
    is_accessible: Check,
    complaints: list[str],
    let_time_pass: Callable[[], None],
) -> None:
    bench.follow("Cities", "Cities")
    bench.follow("Generate outputs", "Generate outputs")
    is_same = stays(bench.page)
    bench.hand.write(bench.field("Prompt"), "Name {{ input.town }}, {{ output }}.")
    bench.hand.write(bench.field("Model"), "stub-1")
    start = bench.button("Start the run")
    bench.hand.press(start)
    expect(bench.main.get_by_role("alert").first).to_contain_text("Prompt")
    expect(start).to_be_focused()
    assert is_same()
    in_both_schemes(bench.page, is_accessible)
    forgive_422(complaints)
    fill_in(bench)
    in_both_schemes(bench.page, is_accessible)

    bench.hand.press(start)
    bench.is_at("first try")
    expect(bench.main).to_contain_text("How the outputs were made")
    work()
    let_time_pass()
    ended = bench.page.get_by_role("heading", name="Cases by verdict")
    expect(ended).to_be_visible()
    bench.hand.press(bench.page.locator("#cases").get_by_role("link", name="Rome"))
    bench.is_at("Rome")
    expect(bench.main).to_contain_text("Milan")
    is_accessible(bench.page)
    verdicts = {
        each.output.case.key: each.get_verdict_display()
        for each in Run.objects.get().verdicts.all()
    }
    assert verdicts == {"Paris": "pass", "Rome": "fail", "Oslo": "pass"}
