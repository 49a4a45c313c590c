"""Runs: the list, a new one, the page of one, and what may be done to it by whom."""

# ruff: noqa: RUF001  pages show ranges with an en dash

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine import plan
from scoring.engine.progress import NO_WORKER
from scoring.models import AuditEntry, OutputSet, Run, RunState, Scorer, Suite, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.scored import CLOSE, EXACT, finished_run, queued_run

BrowserOf = Callable[[User], Client]
MakeSet = Callable[..., OutputSet]


@pytest.fixture
def make_set(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> MakeSet:
    """Outputs for cases that all expect "yes"; None among them failed."""

    def make(texts: Sequence[str | None], name: str = "Answers", **case: Any) -> OutputSet:
        cases = [{"expected": "yes", "input": f"Question {n}", **case} for n in range(len(texts))]
        return make_outputs(make_dataset(cases, name), texts)

    return make


@pytest.fixture
def run(make_set: MakeSet) -> Run:
    """Four cases: equal, nearly equal, far off, failed."""
    return finished_run(make_set(["yes", "yet", "no", None]), CLOSE, EXACT)


def url(run: Run, query: str = "") -> str:
    return reverse("run", args=[run.uuid]) + query


def keys(answer: Any) -> list[str]:
    """The keys of the cases that the page lists, in its order."""
    return [row.key for row in answer.context["cases"].page.rows]


# Who sees what.


def reading(run: Run) -> list[str]:
    return [reverse("runs", args=[run.team.slug]), url(run)]


def writing(run: Run) -> list[str]:
    dataset = run.output_set.version.dataset
    actions = [reverse(f"{verb}_run", args=[run.uuid]) for verb in ("cancel", "resume", "retry")]
    return [reverse("new_run", args=[dataset.uuid]), *actions]


def test_a_stranger_gets_404(browser_of: BrowserOf, charlie: User, run: Run) -> None:
    browser = browser_of(charlie)
    for address in reading(run):
        assert browser.get(address).status_code == 404, address
    for address in writing(run):
        assert browser.post(address).status_code == 404, address


def test_a_viewer_reads_and_may_not_write(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    for address in reading(run):
        assert browser.get(address).status_code == 200, address
    for address in writing(run):
        assert browser.post(address).status_code == 403, address
    assert "Score again" not in browser.get(url(run)).text
    assert Run.objects.count() == 1


def test_nobody_gets_past_the_sign_in(client: Client, run: Run) -> None:
    for address in reading(run) + writing(run):
        assert client.get(address).status_code == 302, address


def test_what_is_done_to_a_run_is_posted(browser_of: BrowserOf, alice: User, run: Run) -> None:
    for address in writing(run)[1:]:
        assert browser_of(alice).get(address).status_code == 405, address


# The list.


def test_the_list_shows_runs_newest_first_and_by_dataset(
    browser_of: BrowserOf, bob: User, team: Team, make_set: MakeSet
) -> None:
    finished_run(make_set(["yes"]), name="older")
    other = finished_run(make_set(["no"], "Others"), name="newer")
    address, browser = reverse("runs", args=[team.slug]), browser_of(bob)
    assert [run.name for run in browser.get(address).context["page"].rows] == ["newer", "older"]
    chosen = browser.get(f"{address}?dataset={other.output_set.version.dataset.uuid}")
    assert [run.name for run in chosen.context["page"].rows] == ["newer"]
    unknown = browser.get(f"{address}?dataset={uuid.uuid4()}")
    assert unknown.context["page"].rows == []
    assert "No such dataset" in unknown.text


def test_a_team_without_runs_is_told_how_to_start_one(
    browser_of: BrowserOf, bob: User, team: Team
) -> None:
    assert "No runs yet" in browser_of(bob).get(reverse("runs", args=[team.slug])).text


@pytest.mark.parametrize("runs", [1, 50])
def test_the_list_costs_the_same_queries_whatever_its_length(
    browser_of: BrowserOf, bob: User, team: Team, make_set: MakeSet, runs: int
) -> None:
    outputs, browser = make_set(["yes"]), browser_of(bob)
    for _ in range(runs):
        queued_run(outputs)
    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(reverse("runs", args=[team.slug]))
    assert len(answer.context["page"].rows) == runs
    assert len(queries) == 7


# A new run.


@pytest.fixture
def suite(team: Team) -> Suite:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {}, 0.8)
    return Suite.objects.define(team, "release", [(scorer, 0.9)])


def shown_form(browser: Client, address: str) -> dict[str, Any]:
    """What a browser would send if nobody touched the form."""
    form = browser.get(address).context["form"]
    return {field.html_name: field.value() for field in form if field.value()}


def test_a_run_is_started_from_the_form(
    browser_of: BrowserOf, alice: User, make_set: MakeSet, suite: Suite
) -> None:
    outputs, browser = make_set(["yes"]), browser_of(alice)
    address = reverse("new_run", args=[outputs.version.dataset.uuid])
    form = shown_form(browser, f"{address}?outputs={outputs.uuid}") | {"suite": suite.uuid}
    answer = browser.post(address, form)
    started = Run.objects.get()
    assert answer["Location"] == url(started)
    assert (started.output_set, started.suite, started.state) == (outputs, suite, RunState.QUEUED)
    assert started.scorers.get().threshold == 0.9
    assert AuditEntry.objects.get(action="run.created").actor == alice


def test_single_scorers_bring_their_own_thresholds(
    browser_of: BrowserOf, alice: User, make_set: MakeSet, suite: Suite
) -> None:
    outputs, browser = make_set(["yes"]), browser_of(alice)
    address = reverse("new_run", args=[outputs.version.dataset.uuid])
    scorer = Scorer.objects.get()
    form = shown_form(browser, f"{address}?outputs={outputs.uuid}")
    browser.post(address, form | {"scorers": [scorer.uuid], "name": "mine"})
    started = Run.objects.get()
    assert (started.name, started.suite, started.scorers.get().threshold) == ("mine", None, 0.8)


def test_a_form_sent_twice_starts_one_run_and_a_changed_one_another(
    browser_of: BrowserOf, alice: User, make_set: MakeSet, suite: Suite
) -> None:
    outputs, browser = make_set(["yes"]), browser_of(alice)
    address = reverse("new_run", args=[outputs.version.dataset.uuid])
    form = shown_form(browser, f"{address}?outputs={outputs.uuid}") | {"suite": suite.uuid}
    first, second = browser.post(address, form), browser.post(address, form)
    assert first["Location"] == second["Location"]
    assert Run.objects.count() == 1
    browser.post(address, form | {"name": "another"})
    browser.post(address, form | {"key": uuid.uuid4()})
    assert Run.objects.count() == 3


def test_the_dataset_s_suite_is_chosen_beforehand(
    browser_of: BrowserOf, alice: User, make_set: MakeSet, suite: Suite
) -> None:
    outputs = make_set(["yes"])
    dataset = outputs.version.dataset
    dataset.suite = suite
    dataset.save()
    form = shown_form(browser_of(alice), reverse("new_run", args=[dataset.uuid]))
    assert form["suite"] == suite.uuid


@pytest.mark.parametrize(
    ("filled", "field", "says"),
    [
        ({}, "suite", "Choose a suite"),
        ({"suite": "release", "scorers": "close"}, "scorers", "not both"),
        ({"suite": "empty"}, "suite", "no scorers yet"),
        ({"suite": "unknown"}, "suite", "valid choice"),
        ({"suite": "release", "outputs": "unknown"}, "outputs", "valid choice"),
        ({"suite": "release", "key": "no key"}, "key", "UUID"),
    ],
)
def test_a_form_that_cannot_be_used_says_why(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_set: MakeSet,
    suite: Suite,
    filled: dict[str, str],
    field: str,
    says: str,
) -> None:
    outputs, browser = make_set(["yes"]), browser_of(alice)
    named = {
        "release": suite.uuid,
        "close": Scorer.objects.get().uuid,
        "empty": Suite.objects.define(team, "empty", []).uuid,
        "unknown": uuid.uuid4(),
    }
    address = reverse("new_run", args=[outputs.version.dataset.uuid])
    form = shown_form(browser, address) | {"outputs": outputs.uuid}
    form |= {name: named.get(value, value) for name, value in filled.items()}
    answer = browser.post(address, form)
    assert answer.status_code == 422
    assert says in str(answer.context["form"].errors[field])
    assert not Run.objects.exists()


def test_another_team_s_outputs_suites_and_scorers_cannot_be_chosen(
    browser_of: BrowserOf, alice: User, charlie: User, make_set: MakeSet
) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    foreign = Scorer.objects.define(elsewhere, "theirs", "levenshtein", {})
    theirs = Suite.objects.define(elsewhere, "theirs", [(foreign, None)])
    outputs, browser = make_set(["yes"]), browser_of(alice)
    address = reverse("new_run", args=[outputs.version.dataset.uuid])
    form = shown_form(browser, address) | {"outputs": outputs.uuid}
    for choice in ({"suite": theirs.uuid}, {"scorers": [foreign.uuid]}):
        assert browser.post(address, form | choice).status_code == 422
    assert not Run.objects.exists()


def test_without_outputs_the_page_leads_to_the_upload(
    browser_of: BrowserOf, alice: User, make_dataset: MakeDataset
) -> None:
    dataset = make_dataset([{}]).dataset
    page = browser_of(alice).get(reverse("new_run", args=[dataset.uuid])).text
    assert "No outputs to score" in page
    assert f"?dataset={dataset.uuid}" in page


# One run.


def test_a_finished_run_shows_its_counts_and_its_scorers(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = browser_of(bob).get(url(run)).text
    assert "4 cases" in page
    for words in ("0.56", "3 / 4", "33.3", "no_output", "levenshtein v1"):
        assert words in page
    assert "hx-trigger" not in page


def test_missing_expected_values_are_counted_in_the_header(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{}, {"expected": "yes"}]), ["yes", "yes"])
    page = browser_of(bob).get(url(finished_run(outputs))).text
    assert "1 case lacks the expected output" in page


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
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
    ],
)
def test_the_address_says_which_cases_are_shown(
    browser_of: BrowserOf, bob: User, run: Run, query: str, wanted: str
) -> None:
    answer = browser_of(bob).get(url(run, query))
    assert keys(answer) == [f"case-{place}" for place in wanted.split()]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?min=low", "min"),
        ("?min=0.5", "scorer"),
        ("?scorer=unknown", "scorer"),
        ("?verdict=maybe", "verdict"),
        ("?sort=unknown", "sort"),
        ("?after=-1", "after"),
        ("?after=1.2.3", "after"),
        ("?after=" + "9" * 30, "after"),
        ("?n=0", "n"),
    ],
)
def test_filters_that_cannot_be_used_are_named(
    browser_of: BrowserOf, bob: User, run: Run, query: str, field: str
) -> None:
    browser = browser_of(bob)
    page = browser.get(url(run, query))
    part = browser.get(url(run, query), headers={"HX-Request": "true", "HX-Target": "cases"})
    for answer in (page, part):
        assert field in answer.context["cases"].form.errors
        assert "These filters cannot be used" in answer.text


def test_a_run_of_one_scorer_need_not_name_it(
    browser_of: BrowserOf, bob: User, make_set: MakeSet
) -> None:
    run = finished_run(make_set(["yes", "no"]))
    assert keys(browser_of(bob).get(url(run, "?min=0.5"))) == ["case-1"]


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
    chips = {chip.text: chip.url for chip in cases.chips()}
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
        shown.append(cases.shown)
        if cases.next_url is None:
            break
        query = cases.next_url
    assert seen == [f"case-{n}" for n in range(1, 102)]
    assert shown == ["1–50 of 101", "51–100 of 101", "101–101 of 101"]
    back = browser.get(url(run, cases.previous_url)).context["cases"]
    assert (back.shown, back.page.rows[0].key) == ("51–100 of 101", "case-51")


@pytest.mark.parametrize(
    ("query", "rows", "queries"),
    [
        ("", 1, 9),
        ("", 50, 9),
        ("?verdict=pass", 1, 9),
        ("?verdict=pass", 50, 9),
        ("?sort=close", 1, 10),  # the scored ones fill no page, so the unscored are asked for
        ("?sort=close", 50, 9),
    ],
)
def test_the_page_costs_the_same_queries_whatever_it_lists(
    browser_of: BrowserOf, bob: User, make_set: MakeSet, rows: int, query: str, queries: int
) -> None:
    run, browser = finished_run(make_set(["yes"] * rows + ["no"])), browser_of(bob)
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(url(run, query))
    assert len(keys(answer)) == min(rows + (query != "?verdict=pass"), 50)
    assert len(captured) == queries


def test_no_combination_of_filters_needs_more_than_twelve_queries(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    query = "?verdict=fail&scorer=exact&min=0&q=no&sort=close&after=2&n=2"
    browser = browser_of(bob)
    with CaptureQueriesContext(connection) as captured:
        browser.get(url(run, query))
    assert len(captured) <= 12


def test_htmx_gets_the_part_it_asks_for(browser_of: BrowserOf, bob: User, run: Run) -> None:
    for part in ("cases", "progress"):
        answer = browser_of(bob).get(url(run), headers={"HX-Request": "true", "HX-Target": part})
        assert answer.text.lstrip().startswith(("<section", "<div"))
        assert f'id="{part}"' in answer.text
        assert "<html" not in answer.text


# A run at work.


@pytest.fixture
def queued(make_set: MakeSet) -> Run:
    return queued_run(make_set(["yes", "no"]))


def test_a_waiting_run_asks_again_and_says_why_it_waits(
    browser_of: BrowserOf, bob: User, queued: Run
) -> None:
    page = browser_of(bob).get(url(queued)).text
    assert 'hx-trigger="every 2s"' in page
    assert NO_WORKER.removeprefix("n") in page
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
    assert AuditEntry.objects.filter(target_id=queued.uuid, actor=alice).count() == 2


def test_an_editor_scores_only_the_errors_again(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    browser = browser_of(alice)
    assert "Score the errors again" in browser.get(url(run)).text
    browser.post(reverse("retry_run", args=[run.uuid]))
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert run.attempts.last() is not None
    assert plan.cancel(run, alice)


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
    assert "Score the errors again" not in browser_of(alice).get(url(run)).text
