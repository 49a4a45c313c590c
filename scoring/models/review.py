"""What people say of an output, each for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self
from uuid import UUID

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Subquery

from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.gathered import gathered, moment
from scoring.models.run import Output, Run
from scoring.models.team import Role, User

MAX_NOTE: Final = 10_000  # characters


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
        # An expression, lest SQLite walks all outputs of the set instead of the few reviews.
        own = self.alias(own_set=models.F("output__output_set") + 0)
        return own.filter(own_set=run.output_set_id)

    def open_to(self, person: User, role: int) -> Self:
        """Those that a person of this role in the team may see.

        Who reviews is blind to what others said of an output until they have said something
        themselves; who only reads sees all.
        """
        if role < Role.REVIEWER:
            return self
        own = Review.objects.filter(output=OuterRef("output"), reviewer=person)
        return self.filter(Exists(own))

    def gathered(self) -> Subquery:
        """A column of outputs from which `Review.read` makes these reviews again."""
        return gathered(
            self,
            "output",
            pk="pk",
            uuid="uuid",
            verdict="verdict",
            note="note",
            changed_at="changed_at",
            reviewer_id="reviewer",
            name="reviewer__name",
            email="reviewer__email",
        )

    def say(
        self, run: Run, output: Output, verdict: ReviewVerdict, *, by: User, note: str = ""
    ) -> Review:
        """The person's review of the output; what they said before is replaced.

        Audited, unless they have said just the same before.
        """
        with transaction.atomic():
            before = self.filter(output=output, reviewer=by).first()
            fields = {"verdict": verdict, "note": note}
            new = {"verdict": verdict.label, "note": note}
            if before and before.told == new:
                return before
            review, _ = self.update_or_create(output=output, reviewer=by, defaults=fields)
            old = before.told if before else None
            AuditEntry.objects.record(run.team, by, "review.said", review, old=old, new=new)
        return review

    def take_back(self, run: Run, output: Output, *, by: User) -> Review | None:
        """Remove what the person said of the output, audited; None if they had said nothing."""
        with transaction.atomic():
            found = self.filter(output=output, reviewer=by).first()
            if found is not None:
                AuditEntry.objects.record(run.team, by, "review.taken_back", found, old=found.told)
                found.delete()
        return found


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

    @property
    def told(self) -> dict[str, str]:
        """The review as the audit keeps it."""
        return {"verdict": self.get_verdict_display(), "note": self.note}

    @property
    def code(self) -> str:
        """The verdict's name in forms and in the API."""
        return ReviewVerdict(self.verdict).code

    @classmethod
    def read(cls, column: list[Mapping[str, Any]] | None) -> list[Review]:
        """The reviews of one output from its column of `gathered` ones, the first one first."""
        return [_read(row) for row in sorted(column or (), key=lambda row: int(row["pk"]))]


def _read(row: Mapping[str, Any]) -> Review:
    reviewer = User(pk=row["reviewer_id"], name=row["name"], email=row["email"])
    own = {name: row[name] for name in ("pk", "verdict", "note")} | {"uuid": UUID(row["uuid"])}
    return Review(**own, reviewer=reviewer, changed_at=moment(row["changed_at"]))
