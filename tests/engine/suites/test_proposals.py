"""What accepting a proposal would do, and that it is decided once."""

from __future__ import annotations

import pytest

from scoring.engine.suites.proposals import accept, plan_proposal, reject
from scoring.models import Scorer, Suite, SuiteProposal, Team, User
from scoring.models.scorers.proposal import AlreadyDecidedError
from tests.conftest import MakeDataset

TEXT = "name: release\nscorers:\n  - {name: close, type: levenshtein, threshold: 0.8}\n"


@pytest.fixture
def suite(team: Team, make_dataset: MakeDataset) -> Suite:
    """The suite of a dataset."""
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    suite = Suite.objects.define(team, "release", [(close, 0.75)])
    suite.assign_to(make_dataset([{}]).dataset, by=None)
    return suite


@pytest.fixture
def proposal(suite: Suite, alice: User) -> SuiteProposal:
    made = SuiteProposal.objects.propose(suite, TEXT, "release.yaml", alice)
    assert made is not None
    return made


def test_a_renamed_suite_keeps_its_proposals(proposal: SuiteProposal, suite: Suite) -> None:
    suite.rename("nightly", by=None)
    proposal.refresh_from_db()
    assert plan_proposal(proposal).suite == suite


def test_a_proposal_is_decided_once(proposal: SuiteProposal, suite: Suite, alice: User) -> None:
    accept(proposal, plan_proposal(proposal), by=alice, reason="Why")
    with pytest.raises(AlreadyDecidedError):
        reject(proposal, by=alice, reason="")
    proposal.refresh_from_db()
    assert proposal.state == "accepted"
