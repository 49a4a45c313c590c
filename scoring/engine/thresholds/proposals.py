"""Thresholds that people propose: what accepting them would change now, and deciding it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.core.exceptions import ValidationError
from django.db import transaction

from scoring.models import (
    ProposalState,
    Scorer,
    Suite,
    SuiteEntry,
    Team,
    ThresholdChange,
    ThresholdProposal,
    User,
)
from scoring.models.scorers.proposal import AlreadyDecidedError
from scoring.models.scorers.suite import ThresholdStep


@dataclass(frozen=True)
class ProposedChange:
    """A proposal and what accepting it would change; `missing` left the suite since."""

    proposal: ThresholdProposal
    proposed: Sequence[tuple[Scorer, float]]
    steps: Sequence[ThresholdStep]
    missing: Sequence[Scorer] = ()

    @classmethod
    def of(cls, proposal: ThresholdProposal) -> ProposedChange:
        """By the thresholds that stand now; two queries."""
        named = Scorer.objects.filter(team=proposal.team_id, uuid__in=proposal.thresholds)
        scorers = list(named.select_related("team").order_by("name"))
        current = {scorer.pk: scorer.threshold for scorer in scorers}
        if proposal.suite_id is not None:
            entries = SuiteEntry.objects.filter(suite=proposal.suite_id)
            current = dict(entries.values_list("scorer", "threshold"))
        proposed = [(scorer, proposal.thresholds[str(scorer.uuid)]) for scorer in scorers]
        return cls(
            proposal,
            proposed,
            [
                ThresholdStep(scorer, current[scorer.pk], new)
                for scorer, new in proposed
                if current.get(scorer.pk, new) != new
            ],
            [scorer for scorer in scorers if scorer.pk not in current],
        )

    @property
    def is_idle(self) -> bool:
        """Whether accepting it would change nothing by now."""
        return not self.steps

    @cached_property
    def signature(self) -> str:
        """Changes when accepting would do something else than was shown."""
        return " ".join(f"{s.scorer.uuid}:{s.old!r}:{s.new!r}" for s in self.steps)


def open_proposals(
    team: Team, suite: Suite | None, scorer: Scorer | None = None
) -> list[ProposedChange]:
    """Those about a suite, or without one about defaults; with a scorer those that name it."""
    proposals = ThresholdProposal.objects.open().filter(team=team, suite=suite)
    rows = proposals.select_related("suite", "team", "proposed_by")
    named = (row for row in rows if scorer is None or str(scorer.uuid) in row.thresholds)
    return [ProposedChange.of(row) for row in named]


def propose(
    team: Team, suite: Suite | None, steps: Iterable[ThresholdStep], *, by: User, rationale: str
) -> ThresholdProposal:
    """Leave these thresholds to an administrator.

    Raises ValidationError for a blank rationale, and where all of them stand already.
    """
    thresholds = {step.scorer: step.new for step in steps if step.new != step.old}
    if not thresholds:
        raise ValidationError("These are the thresholds already.")
    return ThresholdProposal.objects.propose(team, suite, thresholds, by=by, rationale=rationale)


def accept(shown: ProposedChange, *, by: User, reason: str) -> None:
    """Change the thresholds as shown, all of them or none, and close the proposal.

    Raises AlreadyDecidedError, StaleThresholdError and ValidationError.
    """
    with transaction.atomic():
        if not shown.proposal.decide(ProposalState.ACCEPTED, by=by, reason=reason):
            raise AlreadyDecidedError
        change_thresholds(shown.proposal.suite, shown.steps, by=by, reason=reason)


def reject(proposal: ThresholdProposal, *, by: User, reason: str) -> None:
    """Raises AlreadyDecidedError."""
    if not proposal.decide(ProposalState.REJECTED, by=by, reason=reason):
        raise AlreadyDecidedError


def change_thresholds(
    suite: Suite | None, steps: Sequence[ThresholdStep], *, by: User, reason: str
) -> list[ThresholdChange]:
    """In the suite as one change; without one the scorers' defaults. All of them or none."""
    if suite is not None:
        return suite.change_thresholds(steps, by=by, reason=reason)
    with transaction.atomic():
        return [
            step.scorer.change_threshold(step.new, by=by, reason=reason, seen=step.old)
            for step in steps
        ]
