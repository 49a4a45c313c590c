"""An editor proposes thresholds; an administrator accepts or rejects them, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Run, SuiteEntry, ThresholdChange, ThresholdProposal, User
from tests.conftest import MakeDataset
from tests.pages.thresholds.test_effects import words
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db
BrowserOf = Callable[[User], Client]


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.9], "same": [1, 1]})


def page_of(entry: SuiteEntry) -> str:
    return reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])


def propose(browser: Client, **changed: str) -> Any:
    """An editor proposes 0.7 on the page of the threshold."""
    sent = {"threshold": "0.7", "old": "0.5", "reason": "Too lenient."} | changed
    return browser.post(page_of(entry_of()), sent, follow=True)


def decide(browser: Client, decision: str, reason: str = "Agreed.", **more: str) -> Any:
    """As the form on the suite's page would send it."""
    proposal = ThresholdProposal.objects.get()
    page = browser.get(reverse("suite", args=[entry_of().suite.uuid]))
    (card,) = page.context["threshold_cards"]
    sent = {"decision": decision, "reason": reason, "shown": card.change.signature} | more
    url = reverse("decide_threshold_proposal", args=[proposal.uuid])
    return browser.post(url, sent, follow=True)


def test_an_editor_proposes_and_changes_nothing(browser: Client, run: Run) -> None:
    shown = words(browser.get(page_of(entry_of()), {"threshold": "0.7"}))
    assert "Propose change" in shown
    assert "Change threshold" not in shown
    said = words(propose(browser))
    assert "Proposed. An administrator accepts or rejects it." in said
    assert "Proposed by erin@example.org, just now : Too lenient." in said
    assert "The threshold of close changes from 0.5 to 0.7 ." in said
    assert entry_of().threshold == 0.5
    assert ThresholdProposal.objects.get().rationale == "Too lenient."


def test_an_editor_gives_a_reason_and_another_threshold(browser: Client, run: Run) -> None:
    assert "Enter a reason for the threshold change." in words(propose(browser, reason=" "))
    assert "These are the thresholds already." in words(propose(browser, threshold="0.5"))
    assert not ThresholdProposal.objects.exists()


def test_an_administrator_accepts_what_was_shown(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    propose(browser)
    said = words(decide(browser_of(alice), "accept"))
    assert "Proposal accepted." in said
    assert "Thresholds: Too lenient. accepted Agreed. alice@example.org" in said
    change = ThresholdChange.objects.get()
    assert (change.text, change.reason, change.changed_by) == ("0.5 → 0.7", "Agreed.", alice)


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_decision_takes_a_reason(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run, decision: str
) -> None:
    propose(browser)
    said = words(decide(browser_of(alice), decision, reason=" "))
    assert "Enter a reason: nothing was decided." in said
    assert ThresholdProposal.objects.get().state == "open"


def test_a_rejected_proposal_is_listed_with_the_reason(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    propose(browser)
    said = words(decide(browser_of(alice), "reject", reason="Wait for w47."))
    assert "Proposal rejected." in said
    assert "rejected Wait for w47. alice@example.org" in said
    assert entry_of().threshold == 0.5


def test_what_has_changed_since_it_was_shown_is_shown_again(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    propose(browser)
    said = words(decide(browser_of(alice), "accept", shown="other"))
    assert "The thresholds have changed since you looked. Nothing was decided." in said
    entry_of().change_threshold(0.7, by=alice, reason="x")
    page = words(browser_of(alice).get(reverse("suite", args=[entry_of().suite.uuid])))
    assert "These are the thresholds by now." in page


def test_a_proposal_is_decided_once(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    propose(browser)
    decide(browser_of(alice), "reject")
    proposal = ThresholdProposal.objects.get()
    url = reverse("decide_threshold_proposal", args=[proposal.uuid])
    answer = browser_of(alice).post(url, {"decision": "reject", "reason": "x"}, follow=True)
    assert "This proposal has already been decided." in words(answer)


def test_a_proposed_default_is_decided_on_the_page_of_the_default(
    browser: Client, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    scorer = entry_of().scorer
    page = reverse("scorer_threshold", args=[scorer.uuid])
    browser.post(page, {"threshold": "0.6", "old": "0.7", "reason": "Too strict."})
    shown = browser_of(alice).get(page)
    (card,) = shown.context["cards"]
    assert card.preview_url == f"{page}?threshold=0.6"
    proposal = ThresholdProposal.objects.get()
    url = reverse("decide_threshold_proposal", args=[proposal.uuid])
    sent = {"decision": "accept", "reason": "Agreed.", "shown": card.change.signature}
    assert browser_of(alice).post(url, sent)["Location"] == page
    scorer.refresh_from_db()
    assert (scorer.threshold, entry_of().threshold) == (0.6, 0.5)
