"""What the site tells a person: that something they started has ended."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.run import Run
from scoring.models.team import User


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread_by(self, user: User) -> Self:
        """Newest first, with runs joined, of runs that the person still sees."""
        living = Run.objects.visible_to(user)
        found = self.filter(user=user, read_at=None, run__in=living)
        return found.select_related("run").order_by("-pk")

    def mark_read(self) -> int:
        return self.filter(read_at=None).update(read_at=timezone.now())


class Notice(AddressedRow):
    """One sentence about a run for one person, shown until it is read."""

    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    run = models.ForeignKey(Run, models.CASCADE, related_name="notices")
    text = models.CharField(max_length=300)
    read_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["user", "read_at"], name="notices_of_person")]

    def __str__(self) -> str:
        return self.text
