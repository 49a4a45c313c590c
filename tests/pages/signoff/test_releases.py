"""The release decision on a run: seen by all of the team, made by its administrators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.reports.verification import verify_file
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import ReleaseDecision, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.reviewed_runs import ask_to_review
from tests.support.suite_runs import entry_of, suite_run
from tests.support.waived_runs import waive

BrowserOf = Callable[[User], Client]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abc"])
    old = run_with(version, {"close": [1.0] * 3}, name="w45")
    return old, run_with(version, {"close": [0, 0, 1]}, name="w46")


def url(run: Run) -> str:
    return reverse("run_release", args=[run.uuid])


def words(answer: Any) -> str:
    return " ".join(Reader(answer.text).text.split())


def decide(browser: Client, run: Run, state: str = "approved", reason: str = "Good.") -> Any:
    return browser.post(url(run), {"state": state, "reason": reason}, follow=True)


def withdraw(browser: Client, run: Run, **fields: str) -> Any:
    return browser.post(reverse("withdraw_run_release", args=[run.uuid]), fields, follow=True)


def test_the_decision_keeps_its_evidence(
    alices: Client, runs: tuple[Run, Run], alice: User
) -> None:
    assert "2 broken cases are not signed off" in words(alices.get(url(runs[1])))
    said = words(decide(alices, runs[1]))
    assert "Run approved." in said
    decision = ReleaseDecision.objects.get()
    assert (decision.decided_by, decision.baseline, decision.reason) == (alice, runs[0], "Good.")
    assert (decision.evidence["broke"], decision.evidence["open"]) == (2, 2)
    waive(runs[1], "a", "close", alice)
    said = words(alices.get(url(runs[1])))
    assert "1 broken case is not signed off" in said
    assert "2 open, 0 accepted, 0 rejected, 0 waived" in said  # at the time


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [("approved", " ", "This field is required."), ("maybe", "Why", "Select a valid choice.")],
)
def test_a_decision_needs_a_reason(
    alices: Client, runs: tuple[Run, Run], state: str, reason: str, said: str
) -> None:
    answer = decide(alices, runs[1], state, reason)
    assert answer.status_code == 422
    assert said in answer.text
    assert not ReleaseDecision.objects.exists()


def test_an_unfinished_run_is_not_decided(alices: Client, runs: tuple[Run, Run]) -> None:
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.CANCELLED)
    answer = decide(alices, runs[1])
    assert answer.status_code == 422
    assert "only a finished run" in answer.text


def test_it_is_withdrawn_and_restored(alices: Client, runs: tuple[Run, Run]) -> None:
    decide(alices, runs[1], "rejected")
    uid = str(ReleaseDecision.objects.get().uuid)
    assert "Decision withdrawn." in withdraw(alices, runs[1]).text
    assert "no such decision" in withdraw(alices, runs[1]).text
    assert "already been withdrawn or replaced" in withdraw(alices, runs[1], id=uid).text
    assert "Decision restored: rejected." in withdraw(alices, runs[1], id=uid, restore="1").text
    assert "Another decision applies now" in withdraw(alices, runs[1], id=uid, restore="1").text
    assert "no such decision" in withdraw(alices, runs[0], id=uid).text


def test_roles(browser_of: BrowserOf, runs: tuple[Run, Run], bob: User, charlie: User) -> None:
    assert "Only administrators of the team can approve" in words(browser_of(bob).get(url(runs[1])))
    assert decide(browser_of(bob), runs[1]).status_code == 403
    assert withdraw(browser_of(bob), runs[1]).status_code == 403
    assert browser_of(charlie).get(url(runs[1])).status_code == 404
    assert decide(browser_of(charlie), runs[1]).status_code == 404


def test_the_run_page_shows_the_decision_and_what_is_not_signed_off(
    alices: Client, runs: tuple[Run, Run], alice: User
) -> None:
    page = reverse("run", args=[runs[1].uuid])
    said = words(alices.get(page))
    assert "Release not decided" in said
    assert "not signed off" not in said  # not compared yet
    compare_runs(*runs)
    decide(alices, runs[1])
    said = words(alices.get(page))
    assert "Release approved by" in said
    assert "2 broken cases not signed off" in said
    for key in "ab":
        waive(runs[1], key, "close", alice)
    assert "all broken cases signed off" in words(alices.get(page))


def test_a_first_run_has_no_baseline(alices: Client, runs: tuple[Run, Run]) -> None:
    said = words(alices.get(url(runs[0])))
    assert "the series has no earlier finished run" in said
    decide(alices, runs[0])
    assert ReleaseDecision.objects.get().baseline is None


def test_the_report_comes_as_html_and_json(
    browser_of: BrowserOf, runs: tuple[Run, Run], bob: User, charlie: User, tmp_path: Path
) -> None:
    address = reverse("run_release_report", args=[runs[1].uuid])
    for query, name in (("", "report.html"), ("?format=json", "report.json")):
        answer = browser_of(bob).get(address + query)
        assert "attachment" in answer.headers["Content-Disposition"]
        (tmp_path / name).write_bytes(answer.content)
        assert verify_file(tmp_path / name).faults == []
    assert browser_of(charlie).get(address).status_code == 404
    first = reverse("run_release_report", args=[runs[0].uuid])
    assert "a release report needs a baseline" in browser_of(bob).get(first, follow=True).text


def test_whoever_is_yet_to_review_gets_no_report(
    alices: Client, browser_of: BrowserOf, runs: tuple[Run, Run], alice: User, bob: User
) -> None:
    ask_to_review(runs[1], alice, "a")
    address = reverse("run_release_report", args=[runs[1].uuid])
    for query in ("", "?format=json"):
        answer = alices.get(address + query, follow=True)
        assert "Content-Disposition" not in answer.headers
        assert "review 1 case first" in answer.text
        assert "Content-Disposition" in browser_of(bob).get(address + query).headers


def test_a_decision_on_what_is_no_longer_shown_is_refused(
    alices: Client, runs: tuple[Run, Run]
) -> None:
    sent = {"state": "approved", "reason": "Good.", "seen": ""}
    assert alices.post(url(runs[1]), sent).status_code == 302
    refused = alices.post(url(runs[1]), {**sent, "state": "rejected"})
    assert refused.status_code == 409
    assert "Another user approved the run in the meantime" in refused.text
    assert ReleaseDecision.objects.get().state == "approved"
    seen = str(ReleaseDecision.objects.get().uuid)
    assert f'name="seen" value="{seen}"' in refused.text
    assert alices.post(url(runs[1]), {**sent, "state": "rejected", "seen": seen}).status_code == 302
    assert ReleaseDecision.objects.standing().get().state == "rejected"


def test_the_page_says_that_a_run_is_relabelled(alices: Client, make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    old, new = (suite_run(version, {"close": [0.9, 0.6]}, name=name) for name in ("w45", "w46"))
    assert "re-labelled" not in alices.get(url(new)).text
    entry_of().change_threshold(0.7, by=None, reason="x")
    for run in (old, new):
        relabel_run(run, by=None)
    text = words(alices.get(url(new)))
    assert [f"{name} is re-labelled with close 0.7" in text for name in ("w45", "w46")] == [
        True
    ] * 2
