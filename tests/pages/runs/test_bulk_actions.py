"""What is done to the cases that are ticked in a run's table, or to all that it lists."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.runs import bulk_actions
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.models import DraftEdit, Run, RunState, Score, Status, User
from tests.pages.runs.steps import BrowserOf, MakeSet, keys, url
from tests.support.browser_forms import as_sent, pressed_undo
from tests.support.run_states import EXACT, finished_run
from tests.support.undone import undone


@pytest.fixture
def failing(make_set: MakeSet) -> Run:
    """Eight cases of which every other one has an error, by the only scorer."""
    return finished_run(make_set([None if n % 2 else "yes" for n in range(8)]), EXACT)


def _path(run: Run) -> str:
    return reverse("ticked_cases", args=[run.uuid])


def send(browser: Client, run: Run, **sent: object) -> object:
    return browser.post(_path(run), sent)


def test_each_row_can_be_ticked_and_is_named(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(url(run)).text
    assert page.count('type="checkbox" name="place"') == 4
    assert 'value="2" aria-label="Tick case-2"' in page


def test_ticked_cases_are_listed_alone(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    answer = send(browser, run, place=["1", "3"], sort="close", do="")
    shown = browser.get(answer["Location"])  # type: ignore[index]
    assert keys(shown) == ["case-3", "case-1"]
    assert [chip.text for chip in shown.context["cases"].filter_chips()] == ["2 ticked cases"]
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


def test_only_the_errors_of_these_cases_are_scored_again(
    browser_of: BrowserOf, alice: User, failing: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, object], list[int]]] = [
        ({"place": ["2", "3", "8"]}, [2, 8]),
        ({"place": ["2", "4", "6"]}, [2, 4, 6]),
        ({"place": ["4"]}, [4]),
        ({}, [2, 4, 6, 8]),
        ({"q": "Question 5"}, [6]),
    ]
    for sent, wanted in cases:
        with subtests.test(sent=sent, wanted=wanted), undone():
            send(browser_of(alice), failing, do="retry", **sent)
            failing.refresh_from_db()
            assert failing.state == RunState.QUEUED
            assert _rescored(failing) == wanted
            assert planning.plan_attempt(failing).kind == "retry"
            for shard in failing.attempts.last().shards.all():  # type: ignore[union-attr]
                execute_shard(shard.pk)


ALONE = "?place=2&place=4&q=question"


def _touched(browser: Client, run: Run, answer: Any, asked: str) -> list[str]:
    """The keys of the cases to which it was done."""
    if asked == "jsonl":
        found: Any = browser.get(answer["Location"])
        *rows, _ = b"".join(found.streaming_content).splitlines()  # the last says how many
        return [json.loads(row)["key"] for row in rows]
    if asked == "tag":
        return list(DraftEdit.objects.order_by("key").values_list("key", flat=True))
    if asked == "retry":
        return [f"case-{position}" for position in _rescored(run)]
    return keys(browser.get(answer["Location"]))


@pytest.mark.parametrize(("ticks", "wanted"), [([], "2 4"), (["4"], "4"), (["2", "4"], "2 4")])
@pytest.mark.parametrize("asked", ["jsonl", "tag", "retry", ""])
def test_what_is_done_to_a_list_of_ticked_cases_leaves_all_others(
    browser_of: BrowserOf, alice: User, failing: Run, ticks: list[str], wanted: str, asked: str
) -> None:
    browser = browser_of(alice)
    form = as_sent(browser.get(url(failing, ALONE)).text, "ticks")
    answer = browser.post(_path(failing), form | {"place": ticks, "do": asked, "new_tag": "odd"})
    found = _touched(browser, failing, answer, asked)
    assert found == [f"case-{position}" for position in wanted.split()]


def test_a_list_of_ticked_cases_stays_when_they_are_tagged_and_that_is_undone(
    browser_of: BrowserOf, alice: User, failing: Run
) -> None:
    browser = browser_of(alice)
    form = as_sent(browser.get(url(failing, ALONE)).text, "ticks")
    sent = form | {"place": ["4"], "do": "tag", "new_tag": "odd"}
    tagged = browser.post(_path(failing), sent, follow=True)
    assert DraftEdit.objects.get().key == "case-4"
    undone = pressed_undo(browser, tagged)
    assert not DraftEdit.objects.exists()
    assert keys(tagged) == keys(undone) == ["case-2", "case-4"]


def test_a_filter_narrows_a_list_of_ticked_cases(
    browser_of: BrowserOf, bob: User, failing: Run
) -> None:
    browser = browser_of(bob)
    form = as_sent(browser.get(url(failing, "?place=1&place=2&place=4")).text, "filters")
    assert keys(browser.get(url(failing), form | {"verdict": ["error"]})) == ["case-2", "case-4"]


@pytest.mark.parametrize("sent", [{"place": ["1", "3"]}, {"sort": "unknown"}])
def test_cases_without_errors_are_not_scored_again(
    browser_of: BrowserOf, alice: User, failing: Run, sent: dict[str, object]
) -> None:
    address = _path(failing)
    answer = browser_of(alice).post(address, {"do": "retry"} | sent, follow=True)
    assert "There are no errors to score again in these cases." in answer.text
    failing.refresh_from_db()
    assert failing.state == RunState.FINISHED


def test_a_viewer_scores_nothing_again(browser_of: BrowserOf, bob: User, failing: Run) -> None:
    browser = browser_of(bob)
    assert "Score their errors again" not in browser.get(url(failing)).text
    assert send(browser, failing, do="retry").status_code == 403  # type: ignore[attr-defined]


def test_ticked_cases_are_tagged_in_the_draft_of_the_next_version(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    answer = browser_of(alice).post(
        _path(run),
        {"do": "tag", "new_tag": " odd ", "place": ["2", "3"]},
        follow=True,
    )
    assert "2 cases tagged odd in the draft" in answer.text
    edited = DraftEdit.objects.filter(draft__dataset=run.output_set.version.dataset)
    assert sorted(edited.values_list("key", flat=True)) == ["case-2", "case-3"]
    assert run.output_set.version.cases.get(position=2).tags == []


def test_what_cannot_be_tagged_is_said(
    browser_of: BrowserOf,
    alice: User,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"new_tag": ""}, "Name a tag"),
        ({"new_tag": "odd", "verdict": "maybe"}, "Name a tag, and tick a case"),
        ({"new_tag": "odd"}, "At most 2 cases are tagged at once"),
    ]
    for sent, said in cases:
        with subtests.test(sent=sent, said=said), undone(), monkeypatch.context() as patch:
            patch.setattr(bulk_actions, "MAX_TAGGED", 2)
            address = _path(run)
            answer = browser_of(alice).post(address, {"do": "tag"} | sent, follow=True)
            assert said in answer.text
            assert not DraftEdit.objects.exists()


def test_a_viewer_tags_nothing(browser_of: BrowserOf, bob: User, run: Run) -> None:
    assert send(browser_of(bob), run, do="tag", new_tag="odd").status_code == 403  # type: ignore[attr-defined]
