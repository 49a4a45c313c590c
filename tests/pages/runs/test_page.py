"""The page of one run: its figures, its cases, and what may be done to it."""

# ruff: noqa: RUF001  pages show ranges with an en dash

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.drift import measure_series
from scoring.engine.reports.run_summary import Report, as_json, as_table
from scoring.engine.runs import planning
from scoring.engine.runs.progress import NO_WORKER
from scoring.models import AuditEntry, Run, RunDrift, RunState, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf, MakeSet, keys, url, with_code
from tests.support.html import on_one_line
from tests.support.run_states import CLOSE, EXACT, finished_run
from tests.support.undone import undone


def test_a_finished_run_shows_its_counts_and_its_scorers(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = on_one_line(browser_of(bob).get(url(run)).text)
    assert "4 cases" in page
    for words in ("0.56", "3 / 4", "33.3", "no_output", "levenshtein v1"):
        assert words in page
    assert "hx-trigger" not in page


def test_missing_expected_values_are_counted_in_the_header(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{}, {"expected": "yes"}]), ["yes", "yes"])
    page = on_one_line(browser_of(bob).get(url(finished_run(outputs))).text)
    assert "1 case lacks the expected output" in page


def test_empty_expected_texts_are_named_wherever_the_run_is(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": ""}, {"expected": "yes"}]), ["no", "yes"])
    run = finished_run(outputs, ("one", "includes", {}))
    said = "1 case of the dataset version expects an empty text, which <code>includes</code> finds"
    assert said in on_one_line(browser_of(bob).get(url(run)).text)
    assert said in on_one_line(browser_of(bob).get(reverse("run_report", args=[run.uuid])).text)
    api = browser_of(bob).get(reverse("api:run", args=[run.uuid])).json()
    assert (api["empty_expected"], api["missing_expected"]) == (1, 0)
    told = Report(run, None, None, [], seeks_baseline=False)
    assert as_json(told)["empty_expected"] == 1
    assert "includes finds in every output: 1" in as_table(told)


def test_equal_scores_have_two_decimals(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    """30 times 0.17 leave a variance of about 1e-17 in sums of floats."""
    cases = [{"expected": "abcdef"}] * 30
    run = finished_run(make_outputs(make_dataset(cases), ["axxxxx"] * 30), CLOSE)
    page = on_one_line(browser_of(bob).get(url(run)).text)
    assert "0.17 <span" in page
    assert "0.1700" not in page


def test_a_run_whose_outputs_are_one_text_says_so(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    texts = ["I cannot help with that."] * 19 + ["yes", "no"]
    run = finished_run(make_outputs(make_dataset([{}] * len(texts)), texts))
    page = browser_of(bob)
    measure_series(run.output_set.version.dataset, run.output_set.series)
    assert "19 of 21 outputs looked at are the same text." in page.get(url(run)).text
    RunDrift.objects.update(commonest=18)
    assert "the same text" not in page.get(url(run)).text


def test_the_address_says_which_cases_are_shown(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    for query, wanted in [
        ("", "1 2 3 4"),
        ("?order=desc", "4 3 2 1"),
        ("?sort=close", "3 2 1 4"),
        ("?sort=close&order=desc", "1 2 3 4"),
        ("?verdict=fail", "2 3"),
        ("?verdict=error", "4"),
        ("?verdict=pass&scorer=close", "1"),
        ("?verdict=fail&scorer=exact", "2 3"),
        ("?scorer=close&min=0.5&below=1", "2"),
        ("?scorer=close&max=0.67", "2 3"),
        ("?scorer=exact&code=no_output", "4"),
        ("?q=Question+2", "3"),
        ("?q=yet", "2"),
        ("?q=nowhere", ""),
        ("?after=2", "3 4"),
        ("?before=3", "1 2"),
        ("?sort=close&after=2", "1 4"),
        ("?after=999", ""),
    ]:
        answer = browser.get(url(run, query))
        assert keys(answer) == [f"case-{place}" for place in wanted.split()]


def test_every_bar_and_every_cause_leads_to_as_many_cases_as_it_says(
    browser_of: BrowserOf, bob: User, make_set: MakeSet
) -> None:
    texts = ["yes", "yet", "no", None, "y", "yess", "yes no", ""]
    run, browser = finished_run(make_set(texts), CLOSE, EXACT), browser_of(bob)
    for figure in browser.get(url(run)).context["figures"]:
        for linked in figure.bars():
            assert len(keys(browser.get(url(run, linked.query)))) == linked.bar.count
        for cause in figure.causes():
            assert len(keys(browser.get(url(run, cause.query)))) == cause.number


def test_filters_that_are_on_can_be_taken_off_one_by_one(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    query = "?verdict=fail&scorer=close&min=0&below=0.5&q=no&sort=close"
    cases = browser_of(bob).get(url(run, query)).context["cases"]
    chips = {chip.text: chip.url for chip in cases.filter_chips()}
    assert list(chips) == ["fail by close", "close ≥ 0, < 0.5", "“no”"]
    assert "min=" not in chips["close ≥ 0, < 0.5"]
    assert "q=" not in chips["“no”"]
    assert all("sort=close" in address for address in chips.values())


def test_pages_lead_on_and_back_and_say_where_they_are(
    browser_of: BrowserOf, bob: User, make_set: MakeSet
) -> None:
    run, browser = finished_run(make_set(["yes"] * 101)), browser_of(bob)
    seen, shown, query = [], [], ""
    while True:
        answer = browser.get(url(run, query))
        cases = answer.context["cases"]
        seen += keys(answer)
        shown.append(cases.range_text)
        if cases.next_url is None:
            break
        query = cases.next_url
    assert seen == [f"case-{n}" for n in range(1, 102)]
    assert shown == ["1–50 of 101", "51–100 of 101", "101–101 of 101"]
    back = browser.get(url(run, cases.previous_url)).context["cases"]
    assert (back.range_text, back.page.rows[0].key) == ("51–100 of 101", "case-51")


def test_the_page_costs_the_same_queries_whatever_it_lists(
    browser_of: BrowserOf, bob: User, make_set: MakeSet, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, int, int]] = [
        ("", 1, 17),
        ("", 50, 17),
        ("?verdict=pass", 1, 17),
        ("?verdict=pass", 50, 17),
        ("?sort=close", 1, 18),  # the scored ones fill no page, so the unscored are asked for
        ("?sort=close", 50, 17),
    ]
    for query, rows, queries in cases:
        with subtests.test(query=query, rows=rows, queries=queries), undone():
            run, browser = finished_run(make_set(["yes"] * rows + ["no"])), browser_of(bob)
            with CaptureQueriesContext(connection) as captured:
                answer = browser.get(url(run, query))
            assert len(keys(answer)) == min(rows + (query != "?verdict=pass"), 50)
            assert len(captured) == queries


def test_many_filters_at_once_need_few_queries_more(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    query = "?verdict=fail&scorer=exact&min=0&q=no&sort=close&after=2&n=2"
    browser = browser_of(bob)
    with CaptureQueriesContext(connection) as captured:
        browser.get(url(run, query))
    assert len(captured) <= 23


def test_htmx_gets_the_part_it_asks_for(browser_of: BrowserOf, bob: User, run: Run) -> None:
    for part in ("cases", "progress"):
        answer = browser_of(bob).get(url(run), headers={"HX-Request": "true", "HX-Target": part})
        assert answer.text.lstrip().startswith(("<section", "<div"))
        assert f'id="{part}"' in answer.text
        assert "<html" not in answer.text


# A run at work.


def test_a_waiting_run_asks_again_and_says_why_it_waits(
    browser_of: BrowserOf, bob: User, queued: Run
) -> None:
    page = browser_of(bob).get(url(queued)).text
    assert 'hx-trigger="every 2s"' in page
    assert with_code(NO_WORKER.capitalize()) in page
    assert "0 of 2 outputs scored" in page
    assert "Nothing scored yet" in page


def test_the_last_answer_of_a_poll_asks_no_more_and_tells_the_table(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    answer = browser_of(bob).get(url(run), headers={"HX-Request": "true", "HX-Target": "progress"})
    assert "hx-trigger" not in answer.text
    assert json.loads(answer["HX-Trigger"]) == {"run-ended": {}}


def test_an_editor_cancels_and_resumes(browser_of: BrowserOf, alice: User, queued: Run) -> None:
    browser = browser_of(alice)
    assert "Cancel the run" in browser.get(url(queued)).text
    browser.post(reverse("cancel_run", args=[queued.uuid]))
    queued.refresh_from_db()
    assert queued.state == RunState.CANCELLED
    assert "Resume" in browser.get(url(queued)).text
    browser.post(reverse("resume_run", args=[queued.uuid]))
    queued.refresh_from_db()
    assert queued.state == RunState.QUEUED
    assert AuditEntry.objects.by(alice).filter(target_id=queued.uuid).count() == 2


def test_an_editor_scores_only_the_errors_again(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    browser = browser_of(alice)
    assert "with errors</button>" in browser.get(url(run)).text
    browser.post(reverse("retry_run", args=[run.uuid]))
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert run.attempts.last() is not None
    assert planning.cancel_run(run, alice)


@pytest.mark.parametrize("verb", ["cancel", "resume"])
def test_what_cannot_be_done_is_said_and_changes_nothing(
    browser_of: BrowserOf, alice: User, run: Run, verb: str
) -> None:
    answer = browser_of(alice).post(reverse(f"{verb}_run", args=[run.uuid]), follow=True)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert len(answer.context["messages"]) == 1


def test_a_run_without_errors_offers_no_retry(
    browser_of: BrowserOf, alice: User, make_set: MakeSet
) -> None:
    run = finished_run(make_set(["yes"]))
    assert "with errors</button>" not in browser_of(alice).get(url(run)).text


def test_a_run_that_was_given_up_says_why_wherever_it_is_shown(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    failure = "OverflowError: <b>too large</b>"
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED, failure=failure)
    page = on_one_line(browser_of(alice).get(url(run)).text)
    assert "OverflowError: &lt;b&gt;too large&lt;/b&gt;" in page
    assert "Resume" in page
    api = browser_of(alice).get(reverse("api:run", args=[run.uuid])).json()
    assert (api["state"], api["cause"]) == ("cancelled", failure)
