"""Proposed thresholds, by a suite file or by a person, which wait for an administrator."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Self, TypeVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.scorers.scorer import Scorer
from scoring.models.scorers.suite import Suite
from scoring.models.scorers.threshold_change import REASON_NEEDED
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_OPEN: Final = 50  # proposals of thresholds that a team's administrators are yet to decide
TOO_MANY: Final = f"The team has {MAX_OPEN} open proposals: an administrator decides some first."
TOO_MANY_CODE: Final = "too_many_proposals"
Row = TypeVar("Row", bound=models.Model)


class ProposalState(models.TextChoices):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class AlreadyDecidedError(Exception):
    """Somebody else has accepted or rejected the proposal meanwhile."""


class ProposalQuerySet(models.QuerySet[Row]):
    def open(self) -> Self:
        """Those that nobody has decided, the oldest first."""
        return self.filter(state=ProposalState.OPEN).order_by("pk")

    def decided(self) -> Self:
        """Those that were accepted or rejected, the latest first."""
        return self.exclude(state=ProposalState.OPEN).order_by("-decided_at")


class Proposal(AddressedRow):
    """What an administrator accepts or rejects, once; `reason` is that of the decision."""

    proposed_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    state = models.CharField(
        max_length=10, choices=ProposalState.choices, default=ProposalState.OPEN
    )
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)

    team: Any  # the team that decides

    class Meta:
        abstract = True

    def described(self) -> dict[str, Any]:
        """What is proposed, as the audit keeps it."""
        raise NotImplementedError

    def decide(self, state: ProposalState, *, by: User | None, reason: str = "") -> bool:
        """Close an open proposal and record it; False if somebody has done so already."""
        with transaction.atomic():
            rows = type(self)._default_manager
            decided = {"decided_by": by, "decided_at": timezone.now(), "reason": reason.strip()}
            still_open = rows.filter(pk=self.pk, state=ProposalState.OPEN)
            if not still_open.update(state=state, **decided):
                return False
            self.refresh_from_db()
            new = self.described() | {"reason": self.reason}
            AuditEntry.objects.record(self.team, by, f"proposal.{state.value}", self, new=new)
        return True


class SuiteProposalQuerySet(ProposalQuerySet["SuiteProposal"]):
    def propose(
        self, suite: Suite, text: str, source_name: str, by: User | None
    ) -> SuiteProposal | None:
        """The open proposal of this text, a new one if there is none.

        A text that was rejected is not proposed again by a command, which may run many times a day:
        the answer then is None.
        """
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        with transaction.atomic():
            Suite.objects.select_for_update().get(pk=suite.pk)
            latest = self.filter(suite=suite, digest=digest).order_by("pk").last()
            if latest and latest.state == ProposalState.OPEN:
                return latest
            if latest and latest.state == ProposalState.REJECTED and by is None:
                return None
            proposal = self.create(
                suite=suite, text=text, digest=digest, source_name=source_name[:255], proposed_by=by
            )
            new = {"suite": suite.name, "source": source_name}
            AuditEntry.objects.record(suite.team, by, "proposal.created", proposal, new=new)
        return proposal

    def visible_to(self, user: User) -> Self:
        return self.filter(suite__team__in=Team.objects.of(user))


class SuiteProposal(Proposal):
    """A suite as a file describes it, with thresholds that differ from those of a used suite.

    `text` is YAML as `write_suite` writes it, so that equal files are one proposal.
    """

    suite = models.ForeignKey(Suite, models.CASCADE, related_name="proposals")
    text = models.TextField()
    digest = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the text.")
    source_name = models.CharField(max_length=255, blank=True)

    objects = SuiteProposalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["suite", "digest"], condition=Q(state="open"), name="open_proposal_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.suite}: {self.source_name}" if self.source_name else str(self.suite)

    @property
    def team(self) -> Team:
        return self.suite.team

    @property
    def team_id(self) -> int:
        return self.suite.team_id

    def described(self) -> dict[str, Any]:
        return {"suite": self.suite.name}


class ThresholdProposalQuerySet(ProposalQuerySet["ThresholdProposal"]):
    def propose(
        self,
        team: Team,
        suite: Suite | None,
        thresholds: Mapping[Scorer, float],
        *,
        by: User,
        rationale: str,
    ) -> ThresholdProposal:
        """The open proposal of these thresholds, a new one if there is none.

        Raises ValidationError for a blank rationale, and beyond MAX_OPEN of a team.
        """
        if not rationale.strip():
            raise ValidationError({"reason": REASON_NEEDED})
        wanted = dict(sorted((str(scorer.uuid), new) for scorer, new in thresholds.items()))
        with transaction.atomic():
            Team.objects.lock(team)
            equal = self.open().filter(team=team, suite=suite, thresholds=wanted).first()
            if equal is not None:
                return equal
            if self.open().filter(team=team).count() >= MAX_OPEN:
                raise ValidationError(TOO_MANY, TOO_MANY_CODE)
            proposal = self.create(
                team=team,
                suite=suite,
                thresholds=wanted,
                rationale=rationale.strip(),
                proposed_by=by,
            )
            new = proposal.described() | {"rationale": proposal.rationale}
            AuditEntry.objects.record(team, by, "proposal.created", proposal, new=new)
        return proposal

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))


class ThresholdProposal(Proposal):
    """Other thresholds of a suite that a person proposes, or without a suite of a scorer's default.

    `thresholds` has the proposed ones by the scorers' UUIDs, `rationale` why they are proposed.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="threshold_proposals")
    suite = models.ForeignKey(
        Suite, models.CASCADE, null=True, blank=True, related_name="threshold_proposals"
    )
    thresholds = models.JSONField()
    rationale = models.TextField()

    objects = ThresholdProposalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.suite or 'default'}: other thresholds"

    def described(self) -> dict[str, Any]:
        suite = {"suite": self.suite.name} if self.suite else {}
        return suite | {"thresholds": self.thresholds}
