"""Release decisions: a run is approved or rejected, by whom, why, and on which evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.runs.run import Run, RunState
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_REASON: Final = 2_000  # characters


class UnfinishedRunError(ValidationError):
    """The run has not finished: there is nothing to decide on yet."""


class StaleReleaseError(Exception):
    """Somebody else decided meanwhile: `current` is what stands now, None if it was withdrawn."""

    def __init__(self, current: ReleaseDecision | None) -> None:
        self.current = current
        what = f"{current.state} the run" if current else "withdrew the decision"
        super().__init__(f"Another user {what} in the meantime. Nothing was changed.")


class ReleaseState(models.TextChoices):
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"


class ReleaseDecisionQuerySet(models.QuerySet["ReleaseDecision"]):
    def standing(self) -> Self:
        """Those that nobody has withdrawn or replaced: at most one a run."""
        return self.filter(withdrawn_at=None)

    def visible_to(self, user: User) -> Self:
        return self.filter(run__in=Run.objects.visible_to(user))

    def of(self, run: Run) -> Self:
        """The decisions on a run, the newest first, with the people joined."""
        return self.filter(run=run).for_list()

    def for_list(self) -> Self:
        """The newest first, with run, team, baseline and the people joined."""
        related = ("run__team", "decided_by", "withdrawn_by", "baseline")
        return self.select_related(*related).order_by("-pk")

    def decide(
        self,
        run: Run,
        state: ReleaseState,
        reason: str,
        evidence: Mapping[str, Any],
        *,
        baseline: Run | None,
        by: User,
        seen: str | None = None,
    ) -> ReleaseDecision:
        """The decision, in place of the one that stands.

        `seen` is the id of the decision that the person saw stand, "" for none; None where it does
        not matter. Raises ValidationError by field, of which UnfinishedRunError is one, and
        StaleReleaseError.
        """
        reason = reason.strip()
        if not reason:
            raise ValidationError({"reason": "Enter a reason for the decision."})
        if run.state != RunState.FINISHED:
            text = f"The run is {run.state}: only a finished run can be approved or rejected."
            raise UnfinishedRunError({"state": text})
        with transaction.atomic():
            Run.objects.select_for_update().get(pk=run.pk)
            earlier = self.of(run).standing().first()
            if seen is not None and seen != (str(earlier.uuid) if earlier else ""):
                raise StaleReleaseError(earlier)
            if earlier:
                earlier._withdraw(by)
            decision = self.create(
                run=run, baseline=baseline, state=state, reason=reason, decided_by=by,
                evidence=dict(evidence),
            )  # fmt: skip
            old = earlier.audit_values if earlier else None
            new = {**decision.audit_values, "evidence": dict(evidence)}
            AuditEntry.objects.record(run.team, by, f"release.{state.value}", run, old=old, new=new)
        return decision


class ReleaseDecision(AddressedRow):
    """Whether a run may be released.

    `evidence` holds the figures that whoever decided saw. The row never changes but for its end.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="release_decisions")
    baseline = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    state = models.CharField(max_length=10, choices=ReleaseState.choices)
    reason = models.TextField()
    evidence = models.JSONField(default=dict)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )

    objects = ReleaseDecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run"], condition=Q(withdrawn_at=None), name="standing_decision_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.state}"

    @property
    def team(self) -> Team:
        return self.run.team

    @property
    def team_id(self) -> int:
        return self.run.team_id

    @property
    def audit_values(self) -> dict[str, str]:
        """The decision as the audit keeps it."""
        baseline = str(self.baseline.uuid) if self.baseline else ""
        return {"state": self.state, "reason": self.reason, "baseline": baseline}

    def withdraw(self, *, by: User) -> bool:
        """Leave the run without a decision; False if it has been withdrawn or replaced."""
        with transaction.atomic():
            if not self._withdraw(by):
                return False
            old = self.audit_values
            AuditEntry.objects.record(self.team, by, "release.withdrawn", self.run, old=old)
        return True

    def restore(self, *, by: User) -> bool:
        """Undo the withdrawal, unless another decision stands by now."""
        with transaction.atomic():
            Run.objects.select_for_update().get(pk=self.run_id)
            rows = ReleaseDecision.objects.filter(run=self.run_id)
            if rows.standing().exists():
                return False
            rows.filter(pk=self.pk).update(withdrawn_at=None, withdrawn_by=None)
            new = self.audit_values
            AuditEntry.objects.record(self.team, by, "release.restored", self.run, new=new)
        return True

    def _withdraw(self, by: User) -> bool:
        row = ReleaseDecision.objects.filter(pk=self.pk, withdrawn_at=None)
        return bool(row.update(withdrawn_at=timezone.now(), withdrawn_by=by))
