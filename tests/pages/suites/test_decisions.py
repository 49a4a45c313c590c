"""Proposed suites: what an editor's import leaves, and what an administrator decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.suites.proposals import plan_proposal, reject
from scoring.models import AuditEntry, Scorer, Suite, SuiteProposal, Team, ThresholdChange, User
from tests.conftest import MakeDataset
from tests.support.browser_forms import as_sent

BrowserOf = Callable[[User], Client]
FILE = """
name: release
scorers:
  - {name: close, type: levenshtein, threshold: 0.8}
  - {name: same, type: exact_match}
"""


@pytest.fixture
def suite(team: Team, make_dataset: MakeDataset) -> Suite:
    """The suite of a dataset."""
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    suite = Suite.objects.define(team, "release", [(close, 0.75)])
    suite.assign_to(make_dataset([{"input": "q"}]).dataset, by=None)
    return suite


@pytest.fixture
def proposal(suite: Suite, browser: Client) -> SuiteProposal:
    import_file(browser)
    return SuiteProposal.objects.get()


def import_file(browser: Client, text: str = FILE) -> Any:
    fields = {"text": text, "file_name": "release.yaml", "import": "yes"}
    return browser.post(reverse("import_suite", args=["support"]), fields, follow=True)


def page_of(browser: Client, suite: Suite) -> str:
    return " ".join(browser.get(reverse("suite", args=[suite.uuid])).text.split())


def decide(browser: Client, proposal: SuiteProposal, decision: str, **more: str) -> Any:
    """Press a button of the proposal's form as the page shows it."""
    html = browser.get(reverse("suite", args=[proposal.suite.uuid])).text
    url = reverse("decide_proposal", args=[proposal.uuid])
    marked = html.replace(f'method="post" action="{url}"', 'id="scorer-form"')
    sent = as_sent(marked) | {"decision": decision, "reason": "Not now."} | more
    return browser.post(url, sent, follow=True)


def thresholds(suite: Suite) -> dict[str, float]:
    return {e.scorer.name: e.threshold for e in suite.entries.select_related("scorer").all()}


def test_the_same_file_is_one_proposal(browser: Client, suite: Suite) -> None:
    for text in (FILE, FILE.replace("0.8}", "0.80 }"), FILE.replace("0.8", "0.85")):
        import_file(browser, text)
    assert SuiteProposal.objects.count() == 2
    assert AuditEntry.objects.filter(action="proposal.created").count() == 2


def test_an_administrator_accepts_with_a_reason(
    alices: Client, alice: User, proposal: SuiteProposal, suite: Suite
) -> None:
    refused = decide(alices, proposal, "accept", reason=" ")
    assert refused.status_code == 422
    assert "Enter a reason for the threshold change." in refused.text
    assert thresholds(suite) == {"close": 0.75}
    answer = decide(alices, proposal, "accept", reason="Too many near misses.")
    assert "Proposal accepted." in answer.text
    assert thresholds(suite) == {"close": 0.8, "same": 1.0}
    change = ThresholdChange.objects.get(old=0.75)
    assert (change.new, change.changed_by, change.reason) == (0.8, alice, "Too many near misses.")
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("accepted", alice)
    entry = AuditEntry.objects.get(action="proposal.accepted")
    assert entry.new == {"suite": "release", "reason": "Too many near misses."}
    assert "release.yaml" in page_of(alices, suite)


def test_an_administrator_rejects(
    alices: Client, browser: Client, proposal: SuiteProposal, suite: Suite
) -> None:
    assert "Proposal rejected." in decide(alices, proposal, "reject", reason="Not now.").text
    assert thresholds(suite) == {"close": 0.75}
    assert "Not now." in page_of(browser, suite)
    assert plan_proposal(proposal).propose(None) is None, "a command does not ask again"
    import_file(browser)
    assert SuiteProposal.objects.open().count() == 1, "a person may"


def test_what_changed_meanwhile_is_shown_first(
    alices: Client, proposal: SuiteProposal, suite: Suite
) -> None:
    suite.entries.get().change_threshold(0.7, by=None, reason="Milder.")
    url = reverse("decide_proposal", args=[proposal.uuid])
    sent = {"decision": "accept", "reason": "Why", "shown": "another"}
    answer = alices.post(url, sent)
    assert answer.status_code == 422
    assert "Something has changed since you looked." in answer.text
    assert thresholds(suite) == {"close": 0.7}
    assert decide(alices, proposal, "accept", reason="Why").status_code == 200
    assert thresholds(suite)["close"] == 0.8


def test_a_second_decision_says_so(
    alices: Client, alice: User, proposal: SuiteProposal, suite: Suite
) -> None:
    reject(proposal, by=alice, reason="")
    url = reverse("decide_proposal", args=[proposal.uuid])
    answer = alices.post(url, {"decision": "reject", "reason": "x"}, follow=True)
    assert "This proposal has already been decided." in answer.text


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_decision_takes_a_reason(
    alices: Client, proposal: SuiteProposal, suite: Suite, decision: str
) -> None:
    answer = decide(alices, proposal, decision, reason=" ")
    assert answer.status_code == 422
    assert SuiteProposal.objects.open().exists()
    assert thresholds(suite) == {"close": 0.75}
