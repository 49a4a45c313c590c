"""A suite's page: what a proposal would do now, or why it cannot be accepted any more."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from scoring.core.contract import ConfigError
from scoring.engine.suites.proposals import plan_proposal
from scoring.models import Scorer, Suite, SuiteProposal, Team, User
from tests.pages.suites.test_decisions import (
    BrowserOf,
    decide,
    import_file,
    page_of,
    proposal,
    suite,
    thresholds,
)

__all__ = ["proposal", "suite"]


def test_an_editors_import_is_a_proposal(
    browser: Client, suite: Suite, browser_of: BrowserOf, bob: User
) -> None:
    assert "Proposed. An administrator accepts or rejects it." in import_file(browser).text
    assert thresholds(suite) == {"close": 0.75}
    assert not Scorer.objects.filter(name="same").exists()
    proposal = SuiteProposal.objects.get()
    assert (proposal.source_name, proposal.state) == ("release.yaml", "open")
    page = page_of(browser_of(bob), suite)
    assert "Proposed by erin@example.org" in page
    assert 'The threshold of close changes from <span class="number">0.75</span>' in page
    assert "same joins the suite." in page
    assert reverse("decide_proposal", args=[proposal.uuid]) not in page


def test_a_proposal_that_the_suite_has_come_to_is_outdated(
    alices: Client, proposal: SuiteProposal, suite: Suite, team: Team, alice: User
) -> None:
    plan_proposal(proposal).carry_out(alice, "By hand.")
    page = page_of(alices, suite)
    assert "The suite matches the file by now." in page
    assert 'value="accept"' not in page
    decide(alices, proposal, "reject")
    assert not SuiteProposal.objects.open().exists()


@pytest.mark.parametrize("text", ["scorers: [{type: gone}]", "name: release\nscorers: []"])
def test_a_text_that_cannot_be_used_any_more_can_be_rejected(
    alices: Client, proposal: SuiteProposal, suite: Suite, text: str
) -> None:
    SuiteProposal.objects.update(text=text)
    assert "The proposal cannot be used any more" in page_of(alices, suite)
    url = reverse("decide_proposal", args=[proposal.uuid])
    assert alices.post(url, {"decision": "accept", "reason": "Why"}).status_code == 422
    assert "Proposal rejected." in decide(alices, proposal, "reject").text
    with pytest.raises(ConfigError):
        plan_proposal(SuiteProposal.objects.get())


def test_a_scorer_of_another_type_is_a_clash(
    alices: Client, proposal: SuiteProposal, suite: Suite, team: Team
) -> None:
    Scorer.objects.define(team, "same", "regex", {"pattern": "x"})
    assert "A scorer of the team has a name of the file and another type." in page_of(alices, suite)
