"""What people say of an output, each for themselves."""

from __future__ import annotations

from typing import Self

from django.db import models, transaction

from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.run import Output, Run
from scoring.models.team import User


class ReviewVerdict(models.IntegerChoices):
    """Pass and fail are numbered as in `Verdict`."""

    PASS = 0, "pass"
    FAIL = 1, "fail"
    UNSURE = 2, "unsure"
    BAD_CASE = 3, "bad case"  # the case itself is wrong: nothing can be said of the output


class ReviewQuerySet(models.QuerySet["Review"]):
    def of_run(self, run: Run) -> Self:
        """Those of the outputs that the run scored; runs of the same outputs share them."""
        # An expression, lest SQLite walks all outputs of the set instead of the few reviews.
        own = self.alias(own_set=models.F("output__output_set") + 0)
        return own.filter(own_set=run.output_set_id)

    def say(
        self, run: Run, output: Output, verdict: ReviewVerdict, *, by: User, note: str = ""
    ) -> Review:
        """The person's review of the output; what they said before is replaced, and audited."""
        with transaction.atomic():
            before = self.filter(output=output, reviewer=by).first()
            fields = {"verdict": verdict, "note": note}
            review, _ = self.update_or_create(output=output, reviewer=by, defaults=fields)
            old = {"verdict": before.get_verdict_display(), "note": before.note} if before else None
            new = {"verdict": verdict.label, "note": note}
            AuditEntry.objects.record(run.team, by, "review.said", review, old=old, new=new)
        return review


class Review(AddressedRow):
    """One person's verdict and note on one output, whichever run scored it.

    Like all that hangs on outputs it carries no database constraint towards them; whoever removes
    outputs removes their reviews first.
    """

    output = models.ForeignKey(
        Output, models.CASCADE, related_name="reviews", db_index=False, db_constraint=False
    )
    reviewer = models.ForeignKey(User, models.CASCADE, related_name="reviews")
    verdict = models.PositiveSmallIntegerField(choices=ReviewVerdict.choices)
    note = models.TextField(blank=True, default="")
    changed_at = models.DateTimeField(auto_now=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["output", "reviewer"], name="one_review_a_person")
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.get_verdict_display()}"
