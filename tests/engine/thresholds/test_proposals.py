"""What accepting proposed thresholds changes, by the thresholds that stand then."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scoring.engine.thresholds.proposals import (
    ProposedChange,
    accept,
    open_proposals,
    propose,
    reject,
)
from scoring.models import Scorer, Suite, Team, ThresholdChange, ThresholdProposal, User
from scoring.models.scorers.proposal import AlreadyDecidedError
from scoring.models.scorers.suite import ThresholdStep
from scoring.models.scorers.threshold_change import StaleThresholdError

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite(team: Team) -> Suite:
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    same = Scorer.objects.define(team, "same", "exact_match", {})
    return Suite.objects.define(team, "release", [(close, 0.9), (same, 1.0)])


@pytest.fixture
def proposal(suite: Suite, erin: User) -> ThresholdProposal:
    """Of both thresholds."""
    steps = [ThresholdStep(e.scorer, e.threshold, 0.5) for e in suite.entries.all()]
    return propose(suite.team, suite, steps, by=erin, rationale="Too strict.")


def thresholds(suite: Suite) -> dict[str, float]:
    return {entry.scorer.name: entry.threshold for entry in suite.entries.all()}


def test_all_is_changed_as_one_change(
    proposal: ThresholdProposal, suite: Suite, alice: User
) -> None:
    accept(ProposedChange.of(proposal), by=alice, reason="Agreed.")
    assert thresholds(suite) == {"close": 0.5, "same": 0.5}
    changes = ThresholdChange.objects.all()
    assert {(each.reason, each.changed_by, each.revision) for each in changes} == {
        ("Agreed.", alice, 2)
    }
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by, proposal.reason) == ("accepted", alice, "Agreed.")
    with pytest.raises(AlreadyDecidedError):
        reject(proposal, by=alice, reason="No.")


def test_what_stands_by_now_is_compared(
    proposal: ThresholdProposal, suite: Suite, alice: User
) -> None:
    shown = ProposedChange.of(proposal)
    suite.entries.get(scorer__name="close").change_threshold(0.5, by=alice, reason="x")
    now = ProposedChange.of(proposal)
    assert [step.scorer.name for step in now.steps] == ["same"]
    assert now.signature != shown.signature
    with pytest.raises(StaleThresholdError):
        accept(shown, by=alice, reason="Agreed.")
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert thresholds(suite) == {"close": 0.5, "same": 1.0}


def test_a_scorer_that_left_is_missing(
    proposal: ThresholdProposal, suite: Suite, alice: User
) -> None:
    close, same = (entry.scorer for entry in suite.entries.all())
    suite.replace_entries([(same, None)], by=None)
    change = ProposedChange.of(proposal)
    assert (change.missing, [step.scorer for step in change.steps]) == ([close], [same])
    suite.entries.get().change_threshold(0.5, by=alice, reason="x")
    assert ProposedChange.of(proposal).is_idle


def test_a_default_is_proposed_without_a_suite(suite: Suite, erin: User, alice: User) -> None:
    close = Scorer.objects.get(name="close")
    made = propose(
        suite.team, None, [ThresholdStep(close, 0.7, 0.6)], by=erin, rationale="Too strict."
    )
    assert [each.proposal for each in open_proposals(suite.team, None, close)] == [made]
    assert open_proposals(suite.team, None, Scorer.objects.get(name="same")) == []
    assert open_proposals(suite.team, suite) == []
    accept(ProposedChange.of(made), by=alice, reason="Agreed.")
    close.refresh_from_db()
    assert (close.threshold, thresholds(suite)["close"]) == (0.6, 0.9)


def test_thresholds_that_stand_are_not_proposed(suite: Suite, erin: User) -> None:
    steps = [ThresholdStep(e.scorer, e.threshold, e.threshold) for e in suite.entries.all()]
    with pytest.raises(ValidationError, match="These are the thresholds already"):
        propose(suite.team, suite, steps, by=erin, rationale="Why.")
    with pytest.raises(ValidationError, match="Enter a reason"):
        propose(suite.team, suite, [steps[0]._replace(new=0.1)], by=erin, rationale=" ")
    assert not ThresholdProposal.objects.exists()
