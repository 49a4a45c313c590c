"""Comments under an output, in one flat thread for the team."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Self

from django.db import models, transaction
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.locks import lock_row
from scoring.models.runs.run import Output, Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User

MAX_TEXT: Final = 10_000  # characters


class CommentQuerySet(models.QuerySet["Comment"]):
    def of_run(self, run: Run) -> Self:
        """Those on the outputs that the run scored; runs of the same outputs share them."""
        # An expression, lest SQLite walks all outputs of the set instead of the few comments.
        comments = self.alias(output_set=models.F("output__output_set") + 0)
        return comments.filter(output_set=run.output_set_id)

    def add(self, run: Run, output: Output, text: str, *, by: User) -> Comment:
        """A new comment at the end of the output's thread."""
        with transaction.atomic():
            comment = self.create(output=output, author=by, text=text)
            AuditEntry.objects.record(run.team, by, "comment.added", comment, new={"text": text})
        return comment


_Comments = models.Manager.from_queryset(CommentQuerySet)


class UndeletedComments(_Comments["Comment"]):
    """The one door to comments: those that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[Comment]:
        return super().get_queryset().filter(deleted_at=None)


class Comment(AddressedRow):
    """A text by one person on one output, whichever run scored it.

    A deleted one is kept, so that this can be taken back, and shown nowhere. Like all that hangs
    on outputs it carries no database constraint towards them; whoever removes outputs removes
    their comments first.
    """

    output = models.ForeignKey(
        Output, models.CASCADE, related_name="comments", db_index=False, db_constraint=False
    )
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="comments")
    text = models.TextField()
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = UndeletedComments()
    with_deleted = CommentQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["output"], name="comment_by_output")]

    def __str__(self) -> str:
        return f"{self.author or 'A former member'}: {self.text}"[:100]

    def edit(self, run: Run, text: str, *, by: User) -> None:
        """Give it another text, audited with the old one; nothing where they are the same."""
        with transaction.atomic():
            lock_row(self, "text")
            if text == self.text:
                return
            old, self.text, self.edited_at = self.text, text, timezone.now()
            self.save(update_fields=["text", "edited_at"])
            values = {"old": {"text": old}, "new": {"text": text}}
            AuditEntry.objects.record(run.team, by, "comment.edited", self, **values)

    def remove(self, run: Run, *, by: User) -> None:
        """Take it out of its thread until it is restored."""
        self._mark(run, timezone.now(), "comment.deleted", by)

    def restore(self, run: Run, *, by: User) -> None:
        self._mark(run, None, "comment.restored", by)

    def _mark(self, run: Run, when: datetime | None, action: str, by: User) -> None:
        """Set or unset the mark and audit it, unless it is so already."""
        rows = Comment.with_deleted.filter(pk=self.pk, deleted_at__isnull=when is not None)
        with transaction.atomic():
            if rows.update(deleted_at=when):
                AuditEntry.objects.record(run.team, by, action, self, old={"text": self.text})
        self.deleted_at = when
