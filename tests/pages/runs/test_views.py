"""Runs: the list, a new one, and who may see and start them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import AuditEntry, Run, RunState, Scorer, Suite, Team, User
from tests.conftest import MakeDataset
from tests.pages.runs.steps import BrowserOf, MakeSet, url
from tests.support.run_states import finished_run, queued_run
from tests.support.undone import undone

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


def test_a_form_that_cannot_be_used_says_why(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_set: MakeSet,
    suite: Suite,
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[dict[str, str], str, str]] = [
        ({}, "suite", "Choose a suite"),
        ({"suite": "release", "scorers": "close"}, "scorers", "not both"),
        ({"suite": "empty"}, "suite", "no scorers yet"),
        ({"suite": "unknown"}, "suite", "valid choice"),
        ({"suite": "release", "outputs": "unknown"}, "outputs", "valid choice"),
        ({"suite": "release", "key": "no key"}, "key", "UUID"),
    ]
    for filled, field, says in cases:
        with subtests.test(filled=filled, field=field, says=says), undone():
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


def test_a_dataset_without_a_suite_is_offered_the_starters(
    browser_of: BrowserOf, alice: User, make_set: MakeSet
) -> None:
    dataset = make_set(["no"]).version.dataset
    Scorer.objects.define(dataset.team, "ours", "exact_match", {})
    browser, address = browser_of(alice), reverse("new_run", args=[dataset.uuid])
    starter = f'action="{reverse("use_starter", args=[dataset.uuid])}?"'
    page = browser.get(address).text
    assert (starter in page, "Start the run" in page) == (True, True)
    browser.post(reverse("use_starter", args=[dataset.uuid]))
    answer = browser.get(address)
    assert starter not in answer.text
    assert answer.context["form"]["suite"].value() == Suite.objects.get().uuid


def test_a_team_without_scorers_begins_with_the_starters(
    browser_of: BrowserOf, alice: User, make_set: MakeSet
) -> None:
    make_set(["yes"])
    outputs, browser = make_set(["no"]), browser_of(alice)
    dataset = outputs.version.dataset
    address = reverse("new_run", args=[dataset.uuid]) + f"?outputs={outputs.uuid}"
    offered = browser.get(address).text
    assert "Start the run" not in offered
    starter = reverse("use_starter", args=[dataset.uuid]) + f"?outputs={outputs.uuid}"
    assert f'action="{starter}"' in offered
    answer = browser.post(starter, follow=True)
    assert answer.redirect_chain[-1][0] == address
    form = answer.context["form"]
    suite = Suite.objects.get(team=dataset.team)
    assert (form["suite"].value(), form["outputs"].value()) == (suite.uuid, str(outputs.uuid))
    sent = {name: form[name].value() or "" for name in ("key", "suite", "outputs", "name")}
    assert browser.post(address, sent).status_code == 302
    assert Run.objects.get().suite == suite
