"""Adjudications: the verdict of a third person where reviewers of an output disagree."""

from __future__ import annotations

from typing import Any, Self

from django.db import models, transaction

from scoring.models.base import AddressedRow
from scoring.models.reviews.review import Review, ReviewVerdict
from scoring.models.runs.run import Output, OutputSet, Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User


class AdjudicationError(Exception):
    """The person may not adjudicate the output; the text says why."""


class StaleAdjudicationError(AdjudicationError):
    """Somebody else adjudicated the output meanwhile: `current` is theirs, None if withdrawn."""

    def __init__(self, current: Adjudication | None) -> None:
        self.current = current
        super().__init__("Someone else adjudicated this output in the meantime.")


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def of_run(self, run: Run) -> Self:
        """Those on the outputs that the run scored; runs of the same outputs share them."""
        return self.filter(output_set=run.output_set_id)

    def decide(
        self, run: Run, output: Output, verdict: ReviewVerdict, *, by: User, note: str, seen: int
    ) -> Adjudication:
        """The person's final verdict on the output; `seen` is the revision they saw, 0 for none.

        Raises AdjudicationError for one of its reviewers, and StaleAdjudicationError.
        """
        with transaction.atomic():
            if Review.objects.filter(output=output, reviewer=by).exists():
                raise AdjudicationError("A person who reviewed the output may not adjudicate it.")
            current = self.select_for_update().filter(output=output).first()
            if (current.revision if current else 0) != seen:
                raise StaleAdjudicationError(current)
            old = current.audit_values if current else None
            fields = {"verdict": verdict, "note": note, "decided_by": by}
            if current is None:
                current, is_new = self.get_or_create(output=output, defaults=fields)
                if not is_new:
                    raise StaleAdjudicationError(current)
            else:
                for name, value in fields.items():
                    setattr(current, name, value)
                current.save()
            new = current.audit_values
            action = "review.adjudicated"
            entry = AuditEntry.objects.record(run.team, by, action, current, old=old, new=new)
            current.revision = entry.number
            current.save(update_fields=["revision"])
        return current

    def clear(self, run: Run, output: Output, *, by: User, seen: int) -> Adjudication | None:
        """Withdraw the final verdict on the output; None if there is none any more.

        Raises AdjudicationError for one of its reviewers, and StaleAdjudicationError.
        """
        with transaction.atomic():
            if Review.objects.filter(output=output, reviewer=by).exists():
                raise AdjudicationError("A person who reviewed the output may not adjudicate it.")
            current = self.select_for_update().filter(output=output).first()
            if current is None:
                return None
            if current.revision != seen:
                raise StaleAdjudicationError(current)
            old = current.audit_values
            AuditEntry.objects.record(run.team, by, "review.adjudication_cleared", current, old=old)
            current.delete()
        return current


class Adjudication(AddressedRow):
    """The final verdict on an output whose reviewers disagree, by a person who is none of them.

    The `revision` is the number of its last audit entry: none comes twice, also after clearing.
    """

    output = models.OneToOneField(
        Output, models.CASCADE, related_name="adjudication", db_constraint=False
    )
    output_set = models.ForeignKey(
        OutputSet,
        models.CASCADE,
        editable=False,
        related_name="adjudications",
        help_text="The output's.",
    )
    verdict = models.PositiveSmallIntegerField(choices=ReviewVerdict.choices)
    note = models.TextField(blank=True, default="")
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)
    revision = models.PositiveIntegerField(default=1)

    objects = AdjudicationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.decided_by or 'A former member'}: {self.get_verdict_display()}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.output_set_id is None:
            self.output_set_id = self.output.output_set_id
        super().save(*args, **kwargs)

    @property
    def code(self) -> str:
        """The verdict's name in forms and in the API."""
        return ReviewVerdict(self.verdict).code

    @property
    def audit_values(self) -> dict[str, str]:
        """The adjudication as the audit keeps it."""
        return {"verdict": self.get_verdict_display(), "note": self.note}
