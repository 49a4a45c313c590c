"""A scorer tried in the browser: as one types, and through a worker that calls a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from scoring.models import Connection, Job, Scorer, Team, User
from tests.browser.walk import WORKED_MS
from tests.conftest import MakeDataset, MakeOutputs
from tests.stub import wire
from tests.stub.server import Stub
from tests.support.database import link_database
from tests.support.fixtures.sites import Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)><b hx-get=/ hx-trigger=load>x</b>"


@pytest.fixture
def site(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Site]:
    """Processes on the live server's database, with its keys."""
    link_database(tmp_path)
    made = Site(tmp_path)
    yield made
    made.end()


def new(team: Team, kind: str) -> str:
    return reverse("new_scorer", args=[team.slug, kind])


def test_a_score_follows_what_is_typed(
    page: Page, sign_in: SignIn, is_accessible: Callable[[Page], None], alice: User, team: Team
) -> None:
    sign_in(alice)
    page.goto(new(team, "levenshtein"))
    tried = page.locator("#tried")
    expect(tried).to_contain_text(
        "= 0.63 < 0.7 → fail"
    )  # the type's own example, scored without a touch
    page.get_by_label("Output", exact=True).fill("abcd")
    page.get_by_label("Expected", exact=True).fill("abcx")
    expect(tried).to_contain_text("1 \N{MINUS SIGN} 1 / 4 = 0.75 ≥ 0.7 → pass")
    page.get_by_label("Default threshold").fill("0.8")
    expect(tried).to_contain_text("0.75 < 0.8 → fail")
    page.get_by_label("Case-sensitive").check()
    page.get_by_label("Output", exact=True).fill("ABCX")
    expect(tried).to_contain_text("1 \N{MINUS SIGN} 4 / 4 = 0")
    expect(page.get_by_label("Output", exact=True)).to_be_focused()
    is_accessible(page)
    assert not Scorer.objects.exists()


def test_a_bad_setting_is_said_beside_the_texts(
    page: Page, sign_in: SignIn, complaints: list[str], alice: User, team: Team
) -> None:
    sign_in(alice)
    page.goto(new(team, "regex"))
    page.get_by_label("Pattern").press_sequentially("(a")
    expect(page.locator("#tried")).to_contain_text("Pattern: a group is not closed")
    page.get_by_label("Pattern").fill("(a)")
    expect(page.locator("#tried")).to_contain_text("pattern (a):")
    assert all("422" in complaint for complaint in complaints)
    complaints.clear()


def test_an_older_answer_never_overwrites_a_newer(
    page: Page, sign_in: SignIn, alice: User, team: Team
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        is_old = "older" in (route.request.post_data or "")
        held.append(route) if is_old else route.continue_()

    sign_in(alice)
    page.goto(new(team, "includes"))
    tried = page.locator("#tried")
    expect(tried).to_contain_text("found")
    page.route("**/includes/", hold)
    page.get_by_label("Expected", exact=True).fill("newer")
    with page.expect_request(lambda request: "older" in (request.post_data or "")):
        page.get_by_label("Output", exact=True).fill("older")
    page.get_by_label("Output", exact=True).fill("newer")
    expect(tried).to_contain_text('"newer" found')
    held[0].fulfill(body='<div id="tried">an old answer</div>', content_type="text/html")
    page.evaluate("fetch(location.href).then((answer) => answer.text())")  # time enough to arrive
    expect(tried).to_contain_text('"newer" found')
    expect(page.get_by_text("an old answer")).to_have_count(0)


def test_a_case_of_the_team_fills_the_fields(
    page: Page,
    sign_in: SignIn,
    is_accessible: Callable[[Page], None],
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
) -> None:
    cases = [{"key": f"q-{n}", "input": f"Q{n}?", "expected": f"answer {n}"} for n in range(3)]
    make_outputs(make_dataset(cases), ["answer 0", "answer 9", None])
    sign_in(alice)
    page.goto(new(team, "levenshtein"))
    expect(page.locator("#tried")).to_contain_text("→ pass")
    page.get_by_label("Begin with the case").focus()
    page.get_by_label("Begin with the case").select_option(label="q-1")
    expect(page.get_by_label("Output", exact=True)).to_have_value("answer 9")
    expect(page.locator("#tried")).to_contain_text("1 / 8 = 0.88 ≥ 0.7 → pass")
    expect(page.get_by_label("Begin with the case")).to_be_focused()
    expect(page.locator(".htmx-added")).to_have_count(0)  # it listens from then on
    page.get_by_label("Output", exact=True).fill("nothing alike")
    expect(page.locator("#tried")).to_contain_text("→ fail")
    is_accessible(page)


def test_without_scripts_a_button_scores_and_keeps_what_was_typed(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: SignIn,
    alice: User,
    team: Team,
) -> None:
    sign_in(alice)
    state = page.context.storage_state()
    plain = chromium.new_page(
        base_url=live_server.url, java_script_enabled=False, storage_state=state
    )
    plain.goto(new(team, "levenshtein"))
    plain.get_by_label("Output", exact=True).fill("abcd")
    plain.get_by_label("Expected", exact=True).fill("abcx")
    plain.get_by_label("Decimals").fill("1")
    plain.get_by_role("button", name="Try it").click()
    expect(plain.locator("#tried")).to_contain_text("1 / 4 = 0.8 ≥ 0.7 → pass")
    expect(plain.get_by_label("Decimals")).to_have_value("1")
    assert not Scorer.objects.exists()
    plain.get_by_label("Name", exact=True).fill("close")
    plain.get_by_role("button", name="Create scorer").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("close")
    plain.close()


def test_a_judge_is_tried_by_the_worker_and_what_it_writes_never_runs(
    page: Page,
    sign_in: SignIn,
    is_accessible: Callable[[Page], None],
    settings: Settings,
    site: Site,
    alice: User,
    team: Team,
) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a reply ran: {dialog.message}"))
    with Stub() as stub:
        settings.EVALSITE_MODEL_HOSTS = stub.hosts
        url = stub.play("hostile", wire.verdict("good", HOSTILE))
        Connection.objects.define(team, "own", url, offered=[{"name": "stub-1"}], by=alice)
        sign_in(alice)
        page.goto(new(team, "llm_judge"))
        page.get_by_label("Rubric").fill("Is it good?")
        page.get_by_label("Model", exact=True).fill("stub-1")
        for row, (label, score) in enumerate([("good", "1"), ("poor", "0")], start=1):
            page.get_by_label(f"Label {row}", exact=True).fill(label)
            page.get_by_label(f"Score of label {row}", exact=True).fill(score)
        page.get_by_label("Output", exact=True).fill(HOSTILE)
        tried = page.locator("#tried")
        expect(tried).to_contain_text("when you press Try it")
        page.get_by_role("button", name="Try it").click()
        expect(tried).to_contain_text("there is no worker: start manage.py worker")
        assert stub.requests == []

        site.start("worker", EVALSITE_MODEL_HOSTS=",".join(stub.hosts))
        press_until_asked(page)
        expect(tried).to_contain_text("1 ≥ 0.5 → pass", timeout=WORKED_MS)
        assert len(stub.requests) == 1
        expect(tried.locator(".quote:not(.kept)")).to_have_text(HOSTILE)
        tried.get_by_text("The call").click()
        expect(tried).to_contain_text("system message")
        expect(tried).to_contain_text("100 tokens in, 20 out")
        expect(tried.locator("img, script, b[hx-get]")).to_have_count(0)
        is_accessible(page)

        page.get_by_label("Output", exact=True).fill("something else")
        expect(tried).to_contain_text("when you press Try it")
        assert len(stub.requests) == 1


def press_until_asked(page: Page) -> None:
    """Press Try it until the worker, which takes its time to start, is known to live."""
    for _ in range(60):
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.get_by_role("button", name="Try it").click()
        if Job.objects.exists():
            return
        page.wait_for_timeout(500)
    pytest.fail("no worker came")
