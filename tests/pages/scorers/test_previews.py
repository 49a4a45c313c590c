"""A scorer's unsaved config on a past run: what would flip, and what it would cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.jobs import job_queue
from scoring.engine.tryout import preview
from scoring.models import (
    AuditEntry,
    Connection,
    Job,
    JobKind,
    Run,
    Score,
    Scorer,
    ScorerVersion,
    Team,
    User,
)
from tests.pages.conftest import MakeSet
from tests.support.run_states import CLOSE, finished_run, queued_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
HTMX = {"HX-Request": "true", "HX-Target": "previewed"}


def said(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def previewed(browser: Client, url: str, run: Run, how: str = "now", **fields: Any) -> Any:
    """What htmx gets; `how` is now or ask."""
    asked = {"preview": how, "preview-run": str(run.uuid), **fields}
    return browser.post(url, asked, headers=HTMX)


@pytest.fixture
def close(run: Run) -> Scorer:
    """Levenshtein at 0.7; the run's outputs are "yes", "yet", "no" and a failure, for "yes"."""
    return Scorer.objects.get(name="close")


def edit(scorer: Scorer) -> str:
    return reverse("edit_scorer", args=[scorer.uuid])


def test_flips_come_first_with_both_scores_and_lead_to_their_cases(
    browser: Client, run: Run, close: Scorer
) -> None:
    page = previewed(browser, edit(close), run, **{"config-decimals": "0"})
    assert page.status_code == 200
    assert page.text.lstrip().startswith('<div class="previewed" id="previewed"')
    assert "1 of 3 cases would flip : 1 fail → pass." in said(page)
    assert "before: version 1, as the run has it" in said(page)
    first = page.text.partition("<tbody")[2].partition("</tr>")[0]
    assert reverse("run_case", args=[run.uuid, 2]) in first
    assert "fail → pass" in first
    assert "2 cases stay as they are" in said(page)
    assert "0.67" in first
    assert ">1.00<" in first


def test_nothing_is_saved_by_looking(browser: Client, run: Run, close: Scorer) -> None:
    before = [list(rows.objects.values()) for rows in (Score, ScorerVersion, AuditEntry, Job)]
    previewed(browser, edit(close), run, **{"config-decimals": "0"})
    after = [list(rows.objects.values()) for rows in (Score, ScorerVersion, AuditEntry, Job)]
    assert before == after


@pytest.mark.parametrize("few", [1, preview.MAX_IDS])  # a large run is sampled in another way
def test_a_preview_takes_twelve_queries(
    browser: Client,
    run: Run,
    close: Scorer,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    monkeypatch.setattr(preview, "MAX_IDS", few)
    fields = {"name": "close", "config-decimals": "0"}
    previewed(browser, edit(close), run, **fields)
    with django_assert_num_queries(12):
        page = previewed(browser, edit(close), run, **fields)
    assert "1 of 3 cases would flip" in said(page)


def test_an_unchanged_config_flips_nothing(browser: Client, run: Run, close: Scorer) -> None:
    fields = {"config-decimals": "2", "config-max_chars": "10000"}
    assert "None of 3 cases would flip. 0 scores change." in said(
        previewed(browser, edit(close), run, **fields)
    )


def test_both_sides_are_judged_by_the_threshold_of_the_run(
    browser: Client, make_set: MakeSet, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {}, 0.9)
    run = finished_run(make_set(["yes", "yet"]), CLOSE)
    run.scorers.update(threshold=0.6)
    Score.objects.filter(score__lt=0.9).update(verdict=0)
    assert "None of 2 cases would flip" in said(previewed(browser, edit(scorer), run))


def test_a_run_without_the_scorer_is_compared_with_the_saved_config(
    browser: Client, run: Run, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "same", "exact_match", {})
    page = said(previewed(browser, edit(scorer), run, **{"config-negate": "on"}))
    assert "3 of 3 cases would flip : 2 fail → pass, 1 pass → fail." in page
    assert "before: as it is saved" in page


def test_a_new_scorer_has_no_before(browser: Client, run: Run, team: Team) -> None:
    url = reverse("new_scorer", args=[team.slug, "exact_match"])
    page = said(previewed(browser, url, run, threshold="1"))
    assert "2 fail, 1 pass of 3 cases." in page
    assert "Before" not in page


def test_a_combination_is_previewed_from_its_tree(browser: Client, run: Run, team: Team) -> None:
    url = reverse("new_scorer", args=[team.slug, "any"])
    fields = {"node": ["1:0:exact_match", "2:0:regex"], "n2-config-pattern": "^y"}
    page = said(previewed(browser, url, run, threshold="0.5", **fields))
    assert "2 pass, 1 fail of 3 cases." in page


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"config-decimals": "x"}, "Decimals: Enter a whole number"), ({}, "None of 3 cases")],
)
def test_what_is_wrong_in_the_form_is_said_and_nothing_is_scored(
    browser: Client, run: Run, close: Scorer, fields: dict[str, str], says: str
) -> None:
    usual = {"config-decimals": "2", "config-max_chars": "10000"}
    page = previewed(browser, edit(close), run, **usual | fields)
    assert says in said(page)
    assert page.status_code == (422 if fields else 200)


def test_without_scripts_the_whole_page_comes_back_with_what_was_typed(
    browser: Client, run: Run, close: Scorer
) -> None:
    asked = {"preview": "now", "preview-run": str(run.uuid), "config-decimals": "0"}
    page = browser.post(edit(close), {**asked, "try-output": "kept"})
    assert page.status_code == 200
    assert "1 of 3 cases would flip" in said(page)
    assert 'value="0"' in page.text
    assert "kept</textarea>" in page.text
    assert "Nothing was" not in page.text


def test_the_runs_with_the_scorer_are_offered_first(
    browser: Client, make_set: MakeSet, run: Run, close: Scorer, team: Team
) -> None:
    newer = finished_run(make_set(["yes"], "Other"), ("same", "exact_match", {}), name="newer")
    queued_run(make_set(["yes"], "Third"), name="queued")
    page = browser.get(edit(close))
    (mine, own), (other, others) = page.context["preview"].choices
    assert (mine, [value for value, _ in own]) == ("Scored by this scorer", [str(run.uuid)])
    assert (other, [value for value, _ in others]) == ("Other runs", [str(newer.uuid)])


def test_a_team_without_runs_is_told(browser: Client, team: Team) -> None:
    page = browser.get(reverse("new_scorer", args=[team.slug, "exact_match"]))
    assert "No run has ended yet" in page.text


def test_a_run_that_is_not_on_offer_is_not_found(
    browser: Client, make_set: MakeSet, close: Scorer, charlie: User, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["foreign", "queued", "nonsense"]
    for which in cases:
        with subtests.test(which=which), undone():
            other = queued_run(make_set(["yes"], "Other"), name="queued")
            if which == "foreign":
                other = finished_run(make_set(["yes"], "Third"), name="theirs")
                Run.objects.filter(pk=other.pk).update(team=Team.objects.get(slug="elsewhere"))
            chosen = "x" if which == "nonsense" else str(other.uuid)
            fields = {"preview": "now", "preview-run": chosen}
            assert browser.post(edit(close), fields, headers=HTMX).status_code == 404


@pytest.mark.parametrize("count", [3, 60])
def test_a_preview_takes_the_same_queries_for_any_run(
    browser: Client,
    make_set: MakeSet,
    django_assert_max_num_queries: Callable[[int], Any],
    count: int,
) -> None:
    run = finished_run(make_set(["yes", "yet", "no"] * (count // 3)), CLOSE)
    url = edit(Scorer.objects.get(name="close"))
    previewed(browser, url, run)
    with django_assert_max_num_queries(18):
        page = previewed(browser, url, run)
    assert page.text.count("<tr>") - page.text.count("<thead>") == min(count, 50)


def test_what_an_output_holds_is_text(browser: Client, make_set: MakeSet) -> None:
    run = finished_run(make_set(["<script>alert(1)</script>"]), CLOSE)
    page = previewed(browser, edit(Scorer.objects.get(name="close")), run)
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text


# What asks a model

JUDGE = {"config-model": "m", "threshold": "0.5"}


@pytest.fixture
def factuality(team: Team, settings: Any) -> str:
    """The address of a new judge's form."""
    offered = [{"name": "m", "usd_per_million_in": 100.0, "usd_per_million_out": 100.0}]
    Connection.objects.define(team, "own", "https://a.example/v1", offered=offered, by=None)
    return reverse("new_scorer", args=[team.slug, "factuality"])


def test_the_cost_is_stated_before_any_call(
    browser: Client, run: Run, factuality: str, worker: None
) -> None:
    page = previewed(browser, factuality, run, **JUDGE)
    assert "3 cases are scored by the worker when you say so." in said(page)
    assert "Judges 3 0" in said(page)
    assert "$0." in said(page)
    assert 'value="ask"' in page.text
    assert not Job.objects.exists()


def test_the_worker_is_asked_once_and_it_is_written_down(
    browser: Client, run: Run, factuality: str, worker: None, team: Team
) -> None:
    page = previewed(browser, factuality, run, "ask", **JUDGE)
    job = Job.objects.get()
    assert (job.kind, len(job.request["outputs"])) == (JobKind.PREVIEW_SCORER, 3)
    assert AuditEntry.objects.get(action="scorer.previewed").new["type"] == "factuality"
    assert reverse("previewed", args=[job.uuid]) in page.text
    assert "The worker is scoring 3 cases" in said(page)
    again = previewed(browser, factuality, run, "ask", **JUDGE)
    assert "still under way" in said(again)
    assert Job.objects.count() == 1


def test_without_a_worker_nothing_is_asked(browser: Client, run: Run, factuality: str) -> None:
    page = previewed(browser, factuality, run, "ask", **JUDGE)
    assert "there is no worker" in said(page)
    assert not Job.objects.exists()


def done(browser: Client, run: Run, url: str, results: list[Any], problem: str = "") -> Any:
    previewed(browser, url, run, "ask", **JUDGE)
    job = Job.objects.get()
    state = "failed" if problem else "done"
    Job.objects.update(state=state, answer={"results": results}, problem=problem)
    return browser.get(reverse("previewed", args=[job.uuid]), headers=HTMX)


def test_the_answer_stands_where_the_wait_was(
    browser: Client, run: Run, factuality: str, worker: None
) -> None:
    results = [
        ["scored", 1.0, "pass", "", ""],
        ["scored", 0.4, "fail", "a subset", ""],
        ["error", None, None, "the key was refused", "key_refused"],
    ]
    page = done(browser, run, factuality, results)
    assert "1 pass, 1 fail, 1 error of 3 cases." in said(page)
    assert "key_refused" in page.text
    assert "every 1s" not in page.text


def test_why_there_is_no_answer_is_said(
    browser: Client, run: Run, factuality: str, worker: None
) -> None:
    page = done(browser, run, factuality, [], "the endpoint cannot be reached")
    assert "No preview: the endpoint cannot be reached." in said(page)


def test_a_saved_judge_is_compared_with_what_the_run_has(
    browser: Client, make_set: MakeSet, run: Run, factuality: str, worker: None, team: Team
) -> None:
    judge = Scorer.objects.define(team, "facts", "factuality", {"model": "m"})
    version = judge.current
    assert version is not None
    held = run.scorers.get(name="close")
    held.version = version
    held.save()
    previewed(browser, edit(judge), run, "ask", **JUDGE)
    job = Job.objects.get()
    assert job.request["held"] == held.pk
    assert job.request["near"] == 3
    job_queue.fail_abandoned(job)
    page = browser.get(reverse("previewed", args=[job.uuid]))
    assert "No preview: the worker ended meanwhile" in said(page)


def test_a_job_of_another_kind_is_not_found(browser: Client, team: Team, run: Run) -> None:
    job = Job.objects.create(team=team, kind=JobKind.TRY_SCORER)
    assert browser.get(reverse("previewed", args=[job.uuid])).status_code == 404


def test_what_is_extracted_is_previewed_on_real_outputs(
    browser: Client, make_set: MakeSet, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "number", "numeric", {})
    run = finished_run(make_set(["It is 18.", "None.", "A: 1,200"]), ("number", "numeric", {}))
    fields = {"config-extract": "last_number", "config-extract_expected": ""}
    page = previewed(browser, edit(scorer), run, **fields)
    assert "Found in 2 of 3 outputs : the last number." in said(page)
    assert "1 without" in said(page)
    without = page.text.partition("1 without")[2].partition("</tbody>")[0]
    assert reverse("run_case", args=[run.uuid, 2]) in without
    assert "nothing_extracted" in without
    assert ">1200<" in page.text
    plain = previewed(browser, edit(scorer), run)
    assert "Found in" not in said(plain)
    assert "Extracted" not in said(plain)
