"""Decisions on the broken cases of a comparison: the new output is accepted or rejected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Self

from django.db import models, transaction

from scoring.models.base import AddressedRow
from scoring.models.reviews.waiver import sign_off_changed
from scoring.models.runs.run import Output, Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User

MAX_REASON: Final = 2_000  # characters
MAX_NAMED: Final = 1_000  # cases that one audit entry names


class CaseDecisionState(models.TextChoices):
    ACCEPTED = "accepted", "accepted"  # the change is wanted, or good enough
    REJECTED = "rejected", "rejected"  # it must be mended before a release


class CaseDecisionQuerySet(models.QuerySet["CaseDecision"]):
    def between(self, baseline: Run, candidate: Run) -> Self:
        return self.filter(baseline=baseline, candidate=candidate)

    def decide(
        self,
        runs: tuple[Run, Run],
        outputs: Collection[int],
        state: CaseDecisionState,
        *,
        by: User,
        reason: str = "",
    ) -> None:
        """One decision on these outputs of the candidate, in place of earlier ones.

        `runs` are the baseline and the candidate; one audit entry.
        """
        baseline, candidate = runs
        with transaction.atomic():
            earlier = self._remove(runs, outputs)
            CaseDecision.objects.bulk_create(
                CaseDecision(
                    baseline=baseline,
                    candidate=candidate,
                    output_id=output,
                    state=state,
                    reason=reason.strip(),
                    decided_by=by,
                )
                for output in sorted(outputs)
            )
            new = {"state": state.value, "reason": reason.strip()}
            _record(f"case.{state.value}", runs, outputs, earlier, new, by)

    def clear(self, runs: tuple[Run, Run], outputs: Collection[int], *, by: User) -> None:
        """Make these cases open again."""
        with transaction.atomic():
            earlier = self._remove(runs, outputs)
            if earlier:
                _record("case.reopened", runs, [d.output_id for d in earlier], earlier, {}, by)

    def _remove(self, runs: tuple[Run, Run], outputs: Collection[int]) -> list[CaseDecision]:
        Run.objects.select_for_update().get(pk=runs[1].pk)
        present = self.between(*runs).filter(output__in=outputs)
        earlier = list(present.order_by("output"))
        present.delete()
        return earlier


class CaseDecision(AddressedRow):
    """What a person decided of one broken output of the candidate, beside this baseline.

    Like all that hangs on outputs it carries no database constraint towards them; outputs with a
    run are not removed.
    """

    baseline = models.ForeignKey(Run, models.CASCADE, related_name="+", db_index=False)
    candidate = models.ForeignKey(Run, models.CASCADE, related_name="case_decisions")
    output = models.ForeignKey(
        Output, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    state = models.CharField(max_length=10, choices=CaseDecisionState.choices)
    reason = models.TextField(blank=True, default="")
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    objects = CaseDecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["baseline", "candidate", "output"], name="case_decided_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.candidate}: {self.state}"


def _record(
    action: str,
    runs: tuple[Run, Run],
    outputs: Collection[int],
    earlier: Sequence[CaseDecision],
    new: Mapping[str, Any],
    by: User,
) -> None:
    """One entry about the candidate for what one act decided."""
    baseline, candidate = runs
    rows = Output.objects.filter(pk__in=outputs).order_by("case__position", "trial")
    cases = [
        f"{key} trial {trial}" if trial else key
        for key, trial in rows.values_list("case__key", "trial")[:MAX_NAMED]
    ]
    old = {"decided": [{"output": d.output_id, "state": d.state} for d in earlier[:MAX_NAMED]]}
    told = {**new, "baseline": str(baseline.uuid), "cases": cases, "count": len(outputs)}
    AuditEntry.objects.record(
        candidate.team, by, action, candidate, old=old if earlier else None, new=told
    )
    sign_off_changed.send(CaseDecision, dataset=candidate.output_set.version.dataset)
