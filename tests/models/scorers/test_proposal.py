"""Proposed suites: one row for equal texts, and decided once."""

from __future__ import annotations

import pytest

from scoring.models import AuditEntry, ProposalState, Suite, SuiteProposal, Team, User


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
