"""What is done to the cases that are ticked in a run's table, or to all that it lists."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages import ticked
from scoring.engine import plan
from scoring.engine.execute import execute
from scoring.models import DraftEdit, Run, RunState, Score, Status, User
from tests.pages.run_steps import BrowserOf, MakeSet, keys, url
from tests.scored import EXACT, finished_run


@pytest.fixture
def failing(make_set: MakeSet) -> Run:
    """Eight cases of which every other one has an error, by the only scorer."""
    return finished_run(make_set([None if n % 2 else "yes" for n in range(8)]), EXACT)


def send(browser: Client, run: Run, **sent: object) -> object:
    return browser.post(reverse("ticked_cases", args=[run.uuid]), sent)


def test_each_row_can_be_ticked_and_is_named(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(url(run)).text
    assert page.count('type="checkbox" name="place"') == 4
    assert 'value="2" aria-label="Tick case-2"' in page


def test_ticked_cases_are_listed_alone(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    answer = send(browser, run, place=["1", "3"], sort="close", do="")
    shown = browser.get(answer["Location"])  # type: ignore[index]
    assert keys(shown) == ["case-3", "case-1"]
    assert [chip.text for chip in shown.context["cases"].chips()] == ["2 ticked cases"]
    assert keys(browser.get(url(run, "?place=1&place=3&verdict=pass"))) == ["case-1"]


def test_ticked_cases_can_be_left_one_by_one(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    first = browser.get(url(run, "?place=1&place=3"))
    _, address, _ = next(iter(first.context["cases"].rows()))
    around = browser.get(address).context["cases"]
    assert around.standing == "1 of 2"
    last = browser.get(around.next_url).context
    assert (last["view"].output.case.key, last["cases"].next_url) == ("case-3", None)


@pytest.mark.parametrize("marked", [["2", "4"], []])
def test_an_export_holds_what_is_ticked_or_all_that_is_listed(
    browser_of: BrowserOf, bob: User, run: Run, marked: list[str]
) -> None:
    browser = browser_of(bob)
    answer = send(browser, run, place=marked, verdict="error", do="jsonl")
    address = answer["Location"]  # type: ignore[index]
    assert address.startswith(reverse("export_run", args=[run.uuid]))
    assert "csrf" not in address
    found = browser.get(address)
    assert found["X-Row-Count"] == "1"
    assert b"case-4" in b"".join(found.streaming_content)  # type: ignore[attr-defined]


def _rescored(run: Run) -> list[int]:
    """The positions whose errors a retry opens again."""
    attempt = run.attempts.last()
    assert attempt
    ranges = attempt.shards.values_list("first_output", "last_output")
    failed = Score.objects.filter(scorer__run=run, status=Status.ERROR)
    outputs = failed.values_list("output", "output__case__position").order_by("output")
    return [at for output, at in outputs if any(low <= output <= high for low, high in ranges)]


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ({"place": ["2", "3", "8"]}, [2, 8]),
        ({"place": ["2", "4", "6"]}, [2, 4, 6]),
        ({"place": ["4"]}, [4]),
        ({}, [2, 4, 6, 8]),
        ({"q": "Question 5"}, [6]),
    ],
)
def test_only_the_errors_of_these_cases_are_scored_again(
    browser_of: BrowserOf, alice: User, failing: Run, sent: dict[str, object], wanted: list[int]
) -> None:
    send(browser_of(alice), failing, do="retry", **sent)
    failing.refresh_from_db()
    assert failing.state == RunState.QUEUED
    assert _rescored(failing) == wanted
    assert plan.plan(failing).kind == "retry"
    for shard in failing.attempts.last().shards.all():  # type: ignore[union-attr]
        execute(shard.pk)


@pytest.mark.parametrize("sent", [{"place": ["1", "3"]}, {"sort": "unknown"}])
def test_cases_without_errors_are_not_scored_again(
    browser_of: BrowserOf, alice: User, failing: Run, sent: dict[str, object]
) -> None:
    address = reverse("ticked_cases", args=[failing.uuid])
    answer = browser_of(alice).post(address, {"do": "retry"} | sent, follow=True)
    assert "There are no errors to score again in these cases." in answer.text
    failing.refresh_from_db()
    assert failing.state == RunState.FINISHED


def test_a_viewer_scores_nothing_again(browser_of: BrowserOf, bob: User, failing: Run) -> None:
    browser = browser_of(bob)
    assert "Score their errors again" not in browser.get(url(failing)).text
    assert send(browser, failing, do="retry").status_code == 403  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", ["?place=0.x", "?place=1.2.3", "?" + "place=1&" * 501])
def test_ticks_that_cannot_be_read_are_named(
    browser_of: BrowserOf, bob: User, run: Run, query: str
) -> None:
    assert "place" in browser_of(bob).get(url(run, query)).context["cases"].form.errors


def test_ticked_cases_are_tagged_in_the_draft_of_the_next_version(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    answer = browser_of(alice).post(
        reverse("ticked_cases", args=[run.uuid]),
        {"do": "tag", "new_tag": " odd ", "place": ["2", "3"]},
        follow=True,
    )
    assert "2 cases tagged odd in the draft" in answer.text
    edited = DraftEdit.objects.filter(draft__dataset=run.output_set.version.dataset)
    assert sorted(edited.values_list("key", flat=True)) == ["case-2", "case-3"]
    assert run.output_set.version.cases.get(position=2).tags == []


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"new_tag": ""}, "Name a tag"),
        ({"new_tag": "odd", "verdict": "maybe"}, "Name a tag, and tick a case"),
        ({"new_tag": "odd"}, "At most 2 cases are tagged at once"),
    ],
)
def test_what_cannot_be_tagged_is_said(
    browser_of: BrowserOf,
    alice: User,
    run: Run,
    sent: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ticked, "MOST_TAGGED", 2)
    address = reverse("ticked_cases", args=[run.uuid])
    answer = browser_of(alice).post(address, {"do": "tag"} | sent, follow=True)
    assert said in answer.text
    assert not DraftEdit.objects.exists()


def test_a_viewer_tags_nothing(browser_of: BrowserOf, bob: User, run: Run) -> None:
    assert send(browser_of(bob), run, do="tag", new_tag="odd").status_code == 403  # type: ignore[attr-defined]
