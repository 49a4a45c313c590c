"""Notices of ended runs are told, fold into one line, and never lie over the field in use."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from scoring.engine.runs.notifications import notify_run_end
from scoring.models import Run, RunState, User
from tests.browser.test_feel import LISTEN, heard
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run

if TYPE_CHECKING:
    from playwright.sync_api._generated import Clock

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]
TOLD = "long has finished: 1 pass."
PHONE = {"width": 360, "height": 640}
COVERED = """fields => {
  const notices = document.getElementById("notices");
  if (notices.dataset.place === "away") return [];
  const a = notices.getBoundingClientRect();
  return fields.filter((field) => {
    const b = field.getBoundingClientRect();
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  }).map((field) => field.outerHTML);
}"""
TO_THE_END = """() => new Promise((done) => {
  addEventListener("scrollend", () => done(), { once: true });
  scrollTo(0, document.body.scrollHeight);
})"""


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    version = make_dataset([{"input": f"Question {n}", "expected": "yes"} for n in range(12)])
    return finished_run(make_outputs(version, ["yes"] * 12), CLOSE, name="w46")


@pytest.fixture
def waiting(run: Run, alice: User) -> Run:
    return queued_run(run.output_set, EXACT, name="long", by=alice)


@pytest.fixture
def at_runs(page: Page, clock: Clock, sign_in: SignIn, alice: User) -> Page:
    """A tab whose clock the test turns."""
    sign_in(alice)
    page.add_init_script(LISTEN)
    return page


def end(run: Run) -> None:
    now = timezone.now()
    fields = {"state": RunState.FINISHED, "finished_at": now, "pass_count": 1}
    Run.objects.filter(pk=run.pk).update(**fields, started_at=now - timedelta(minutes=2))
    run.refresh_from_db()
    notify_run_end(run)


def sentence(page: Page) -> Locator:
    return page.get_by_role("status").get_by_role("link", name=TOLD)


def line(page: Page) -> Locator:
    return page.locator("#notices").get_by_role("button", name="1 notice", exact=True)


def covered(fields: Locator) -> list[str]:
    """Those that the notices lie over where they are seen."""
    found: list[str] = fields.evaluate_all(COVERED)
    return found


def test_a_notice_that_comes_is_read_out_and_folds_into_a_line(
    at_runs: Page, run: Run, waiting: Run, is_accessible: IsAccessible
) -> None:
    at_runs.goto(reverse("datasets", args=[run.team.slug]))
    end(waiting)
    at_runs.clock.run_for(10_000)
    expect(sentence(at_runs)).to_be_visible()
    at_runs.clock.run_for(200)
    heard(at_runs, TOLD)
    expect(line(at_runs)).to_have_attribute("aria-expanded", "true")
    is_accessible(at_runs)
    at_runs.mouse.move(800, 100)
    at_runs.clock.run_for(8_000)
    expect(sentence(at_runs)).to_be_hidden()
    expect(line(at_runs)).to_have_attribute("aria-expanded", "false")
    is_accessible(at_runs)


def test_what_was_told_waits_in_its_line_on_the_next_page(
    at_runs: Page, run: Run, waiting: Run
) -> None:
    end(waiting)
    at_runs.goto(reverse("datasets", args=[run.team.slug]))
    expect(sentence(at_runs)).to_be_visible()
    at_runs.goto(reverse("runs", args=[run.team.slug]))
    expect(line(at_runs)).to_be_visible()
    expect(sentence(at_runs)).to_be_hidden()
    line(at_runs).focus()
    at_runs.keyboard.press("Enter")
    expect(sentence(at_runs)).to_be_visible()
    at_runs.clock.run_for(20_000)
    expect(sentence(at_runs)).to_be_visible()
    at_runs.get_by_role("button", name=f"Dismiss: {TOLD}").click()
    expect(at_runs.locator("#notices")).to_be_empty()


def test_escape_folds_the_notices_and_then_takes_their_line_away(
    at_runs: Page, run: Run, waiting: Run
) -> None:
    end(waiting)
    at_runs.goto(reverse("datasets", args=[run.team.slug]))
    at_runs.get_by_role("button", name=f"Dismiss: {TOLD}").focus()
    at_runs.keyboard.press("Escape")
    expect(sentence(at_runs)).to_be_hidden()
    expect(line(at_runs)).to_be_focused()
    at_runs.keyboard.press("Escape")
    expect(line(at_runs)).to_be_hidden()


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
def test_no_field_that_has_the_focus_is_covered(
    at_runs: Page, run: Run, waiting: Run, width: int
) -> None:
    at_runs.set_viewport_size({"width": width, "height": 640})
    end(waiting)
    at_runs.goto(reverse("run", args=[run.uuid]))
    expect(sentence(at_runs)).to_be_visible()
    fields = at_runs.locator("#filters :is(input:not([type=hidden]), select), #ticks input")
    assert fields.count() > 20
    for state in ("open", "folded"):
        for field in fields.all():
            if not field.is_visible():
                continue
            field.evaluate("each => each.scrollIntoView({ block: 'end' })")
            field.focus()
            assert covered(field) == []
        expect(at_runs.locator("#notices")).to_have_attribute("data-state", state)
        at_runs.keyboard.press("Escape")


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
def test_no_field_lies_under_the_line(at_runs: Page, run: Run, waiting: Run, width: int) -> None:
    at_runs.set_viewport_size({"width": width, "height": 640})
    end(waiting)
    at_runs.goto(reverse("run", args=[run.uuid]))
    at_runs.keyboard.press("Escape")
    fields = at_runs.locator("main :is(input:not([type=hidden]), select, button, summary)")
    for top in range(0, 1200, 150):
        at_runs.evaluate("top => { scrollTo(0, top); dispatchEvent(new Event('resize')); }", top)
        beside = fields.filter(visible=True).and_(at_runs.locator(":not(#notices *)"))
        assert covered(beside) == []


def test_a_field_that_fills_the_window_hides_the_notices(
    at_runs: Page, run: Run, waiting: Run
) -> None:
    at_runs.set_viewport_size(PHONE)  # type: ignore[arg-type]
    end(waiting)
    at_runs.goto(reverse("import_suite", args=[run.team.slug]))
    field = at_runs.locator("textarea").first
    field.evaluate("each => { each.rows = 60; each.scrollIntoView(); }")
    field.focus()
    box = at_runs.locator("#notices")
    expect(box).to_have_attribute("data-place", "away")
    expect(box).to_have_css("clip-path", "inset(50%)")
    line(at_runs).focus()
    expect(box).not_to_have_css("clip-path", "inset(50%)")


def test_the_last_field_of_a_page_can_be_scrolled_out_from_under_the_line(
    at_runs: Page, run: Run, waiting: Run
) -> None:
    at_runs.set_viewport_size(PHONE)  # type: ignore[arg-type]
    end(waiting)
    at_runs.goto(reverse("run", args=[run.uuid]))
    at_runs.keyboard.press("Escape")
    expect(line(at_runs)).to_be_visible()
    at_runs.evaluate(TO_THE_END)
    last = at_runs.locator("#ticks input[name=place]").last
    assert covered(last) == []
    last.check()
