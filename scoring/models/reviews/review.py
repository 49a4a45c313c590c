"""Reviews: the verdict and note of each person about an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from scoring.core.questions import Answers
from scoring.models.base import AddressedRow
from scoring.models.reviews.queue import ReviewTask
from scoring.models.runs.run import Output, OutputSet, Run
from scoring.models.scorers.threshold_change import UNIT
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Role, User

MAX_NOTE: Final = 10_000  # characters
MAX_REVIEWER: Final = 254  # characters of a name


class StaleReviewError(Exception):
    """The person changed the review in another window: `current` is it, None if withdrawn."""

    def __init__(self, current: Review | None) -> None:
        self.current = current
        super().__init__("You reviewed this output in another window meanwhile.")


class ReviewVerdict(models.IntegerChoices):
    """Pass and fail are numbered as in `Verdict`."""

    PASS = 0, "pass"
    FAIL = 1, "fail"
    UNSURE = 2, "unsure"
    BAD_CASE = 3, "bad case"  # the case itself is wrong: nothing can be said of the output

    @property
    def code(self) -> str:
        """Its name in forms and in the API."""
        return self.name.lower()


class ReviewQuerySet(models.QuerySet["Review"]):
    def of_run(self, run: Run) -> Self:
        """Those of the outputs that the run scored; runs of the same outputs share them."""
        return self.filter(output_set=run.output_set_id)

    def readable_by(self, person: User, role: int) -> Self:
        """Those that a person of this role in the team may see.

        A reviewer does not see the reviews of others on an output before their own; a viewer sees
        all.
        """
        if role < Role.REVIEWER:
            return self
        own = Review.objects.filter(output=OuterRef("output"), reviewer=person)
        return self.filter(Exists(own))

    def record(
        self,
        run: Run,
        output: Output,
        verdict: ReviewVerdict,
        *,
        by: User,
        note: str = "",
        failure_tags: Sequence[str] | None = None,
        answers: Mapping[str, Answers] | None = None,
        seen: int | None = None,
    ) -> Review:
        """The person's review of the output, in place of their earlier one, also an imported one.

        Without `failure_tags` those of the earlier one stay, and its answers do but for these, by
        the labels of their questions. `seen` is the revision that the
        person saw, 0 for none; without it any is replaced. Audited, unless the earlier one is the
        same. Raises StaleReviewError.
        """
        with transaction.atomic():
            previous = self._own(output, by)
            _check_revision(previous, seen)
            review = previous
            if review is None:
                first = {"verdict": verdict, "revision": 0, "output_set_id": output.output_set_id}
                review, is_new = self.get_or_create(output=output, reviewer=by, defaults=first)
                if not is_new:  # sent twice at the same moment
                    _check_revision(review, seen)
                    previous = review
            if failure_tags is None:
                failure_tags = previous.failure_tags if previous else []
            kept = previous.answers if previous else {}
            answered = kept | dict(answers or {})
            fields = {"verdict": verdict, "note": note, "failure_tags": list(failure_tags)}
            fields |= {"answers": answered, "reviewer": by, "reviewer_name": ""}
            ReviewTask.objects.mark_done(output, by, answered)
            old = previous.audit_values if previous else None
            for name, value in fields.items():
                setattr(review, name, value)
            if review.audit_values == old and not review.is_imported:
                return review
            review.is_imported, review.score = False, None  # what was imported is replaced
            review.revision += 1
            review.changed_at = timezone.now()
            review.save()
            new = review.audit_values
            AuditEntry.objects.record(run.team, by, "review.said", review, old=old, new=new)
        return review

    def withdraw(
        self, run: Run, output: Output, *, by: User, seen: int | None = None
    ) -> Review | None:
        """Remove the person's review of the output, audited; None if there is none.

        Raises StaleReviewError, see `record`.
        """
        with transaction.atomic():
            review = self._own(output, by)
            _check_revision(review, seen)
            ReviewTask.objects.mark_open(output, by)
            if review is not None:
                old = review.audit_values
                AuditEntry.objects.record(run.team, by, "review.taken_back", review, old=old)
                review.delete()
        return review

    def _own(self, output: Output, by: User) -> Review | None:
        """The person's review, locked until the transaction ends.

        Perhaps one that came in under their address, before they were a member.
        """
        named = Q(reviewer=None, reviewer_name__same=by.email)
        rows = self.select_for_update().filter(Q(reviewer=by) | named, output=output)
        return rows.order_by(models.F("reviewer").asc(nulls_last=True)).first()


def _check_revision(review: Review | None, seen: int | None) -> None:
    if seen is not None and (review.revision if review else 0) != seen:
        raise StaleReviewError(review)


class Review(AddressedRow):
    """One person's verdict and note on one output, whichever run scored it.

    The reviewer is a person of this site or, in imported reviews, no more than a name.

    Like all that hangs on outputs it carries no database constraint towards them; whoever removes
    outputs removes their reviews first.
    """

    output = models.ForeignKey(
        Output, models.CASCADE, related_name="reviews", db_index=False, db_constraint=False
    )
    output_set = models.ForeignKey(
        OutputSet,
        models.CASCADE,
        editable=False,
        related_name="reviews",
        db_index=False,
        help_text="The output's.",
    )
    reviewer = models.ForeignKey(
        User, models.CASCADE, null=True, blank=True, related_name="reviews"
    )
    reviewer_name = models.CharField(
        max_length=MAX_REVIEWER, blank=True, default="", help_text="Of a reviewer who is no member."
    )
    verdict = models.PositiveSmallIntegerField(choices=ReviewVerdict.choices)
    score = models.FloatField(null=True, blank=True, validators=UNIT)
    note = models.TextField(blank=True, default="")
    failure_tags = models.JSONField(default=list, blank=True)
    answers = models.JSONField(
        default=dict, blank=True, help_text="By the label of the question set they were asked in."
    )
    is_imported = models.BooleanField(default=False, editable=False)
    changed_at = models.DateTimeField(default=timezone.now)
    revision = models.PositiveIntegerField(default=1, editable=False)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["output", "reviewer"], name="one_review_a_person"),
            models.UniqueConstraint(
                fields=["output", "reviewer_name"],
                condition=Q(reviewer=None),
                name="one_review_a_name",
            ),
            models.CheckConstraint(
                condition=Q(score=None) | Q(score__gte=0, score__lte=1),
                name="review_score_is_finite_and_unit",
            ),
        ]
        indexes = [
            models.Index(
                fields=["output_set", "output", "verdict", "revision"], name="reviews_of_output_set"
            )
        ]

    def __str__(self) -> str:
        return f"{self.reviewer_label}: {self.get_verdict_display()}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.output_set_id is None:
            self.output_set_id = self.output.output_set_id
        super().save(*args, **kwargs)

    @property
    def reviewer_label(self) -> str:
        """Who reviewed: a person as they are shown, or the name that came with the review."""
        return str(self.reviewer) if self.reviewer else self.reviewer_name

    @property
    def audit_values(self) -> dict[str, Any]:
        """The review as the audit keeps it."""
        values: dict[str, Any] = {"verdict": self.get_verdict_display(), "note": self.note}
        if self.failure_tags:
            values["failure_tags"] = self.failure_tags
        if self.answers:
            values["answers"] = self.answers
        if self.score is not None:
            values["score"] = self.score
        return values

    @property
    def code(self) -> str:
        """The verdict's name in forms and in the API."""
        return ReviewVerdict(self.verdict).code
