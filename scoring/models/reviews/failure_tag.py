"""Failure tags: the team's own list of what can be wrong with an output."""

from __future__ import annotations

from typing import Any, Final

from django.db import IntegrityError, models, transaction

from scoring.models.base import AddressedRow, validate_name
from scoring.models.locks import lock_row
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_NAME: Final = 40  # characters
MAX_TAGS: Final = 20  # of a review


class FailureTagQuerySet(models.QuerySet["FailureTag"]):
    def add(self, team: Team, by: User, **fields: Any) -> FailureTag:
        """A new tag of the team, audited. Raises IntegrityError where it has one of this name."""
        with transaction.atomic():
            tag = self.create(team=team, **fields)
            AuditEntry.objects.record(team, by, "failure_tag.added", tag, new={"name": tag.name})
        return tag

    def obtain(self, team: Team, name: str, *, by: User) -> FailureTag:
        """The team's tag of this name, whatever its case; a new one if it has none."""
        named = self.filter(team=team, name__same=name)
        if (known := named.first()) is not None:
            return known
        try:
            return self.add(team, by, name=name)
        except IntegrityError:  # a colleague has just added it
            return named.get()


class FailureTag(AddressedRow):
    """A kind of failure that reviewers may name. A review keeps the names it was given.

    A scorer that passes an output with a severe one is not fit to gate.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="failure_tags")
    name = models.CharField(max_length=MAX_NAME, validators=[validate_name])
    help_text = models.CharField(max_length=200, blank=True, default="")
    is_severe = models.BooleanField("severe", default=False)

    objects = FailureTagQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="failure_tag_once")]

    def __str__(self) -> str:
        return self.name

    def remove(self, *, by: User) -> None:
        """Take it off the team's list, audited."""
        with transaction.atomic():
            tag = FailureTag.objects.select_for_update().filter(pk=self.pk).first()
            if tag is not None:
                old = {"name": tag.name}
                AuditEntry.objects.record(self.team, by, "failure_tag.removed", tag, old=old)
                tag.delete()

    def mark(self, *, is_severe: bool, by: User) -> None:
        """Say whether it is severe, audited unless it is said already."""
        with transaction.atomic():
            lock_row(self, "is_severe")
            if is_severe == self.is_severe:
                return
            old, new = {"is_severe": self.is_severe}, {"is_severe": is_severe}
            self.is_severe = is_severe
            self.save(update_fields=["is_severe"])
            AuditEntry.objects.record(self.team, by, "failure_tag.changed", self, old=old, new=new)
