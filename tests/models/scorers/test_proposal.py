"""Proposed suites: one row for equal texts, and decided once."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scoring.models import (
    AuditEntry,
    ProposalState,
    Scorer,
    Suite,
    SuiteProposal,
    Team,
    ThresholdProposal,
    User,
)
from scoring.models.scorers import proposal as proposals


@pytest.fixture
def suite(team: Team) -> Suite:
    return Suite.objects.define(team, "release", [])


def propose(suite: Suite, text: str, by: User | None) -> SuiteProposal | None:
    return SuiteProposal.objects.propose(suite, text, "release.yaml", by)


def test_an_open_text_is_proposed_once(suite: Suite, alice: User) -> None:
    first = propose(suite, "a", alice)
    assert first is not None
    assert propose(suite, "a", None) == first
    assert propose(suite, "b", None) != first
    assert SuiteProposal.objects.open().first() == first
    assert AuditEntry.objects.filter(action="proposal.created").count() == 2


@pytest.mark.parametrize(("state", "asks_again"), [("rejected", False), ("accepted", True)])
def test_only_a_person_asks_again_for_what_was_rejected(
    suite: Suite, alice: User, state: str, asks_again: bool
) -> None:
    proposal = propose(suite, "a", alice)
    assert proposal is not None
    assert proposal.decide(ProposalState(state), by=alice, reason=" Why. ")
    assert (propose(suite, "a", None) is not None) == asks_again
    assert propose(suite, "a", alice) is not None


def test_it_is_decided_once_and_by_whom_is_kept(suite: Suite, alice: User, bob: User) -> None:
    proposal = propose(suite, "a", alice)
    assert proposal is not None
    assert proposal.decide(ProposalState.ACCEPTED, by=bob, reason=" Why. ")
    assert not proposal.decide(ProposalState.REJECTED, by=alice)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by, proposal.reason) == ("accepted", bob, "Why.")
    assert list(SuiteProposal.objects.decided()) == [proposal]
    assert AuditEntry.objects.get(action="proposal.accepted").actor == bob


def test_strangers_see_none(suite: Suite, bob: User, charlie: User) -> None:
    proposal = propose(suite, "a", None)
    assert list(SuiteProposal.objects.visible_to(bob)) == [proposal]
    assert not SuiteProposal.objects.visible_to(charlie).exists()


def test_open_proposals_of_thresholds_are_bounded(
    suite: Suite, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "MAX_OPEN", 1)
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    propose = ThresholdProposal.objects.propose
    first = propose(team, suite, {close: 0.5}, by=alice, rationale="Too strict.")
    assert propose(team, suite, {close: 0.5}, by=alice, rationale="Again.") == first
    with pytest.raises(ValidationError, match="open proposals"):
        propose(team, suite, {close: 0.6}, by=alice, rationale="Too strict.")
    first.decide(ProposalState.REJECTED, by=alice, reason="No.")
    assert propose(team, suite, {close: 0.6}, by=alice, rationale="Too strict.") != first
