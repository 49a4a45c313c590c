"""Notices: one sentence for a person about a run that ended, an alert that fired or a mention."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from scoring.models.alerts.alert import Alert
from scoring.models.base import AddressedRow
from scoring.models.runs.run import Run
from scoring.models.team.team import Team, User


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread_by(self, user: User) -> Self:
        """Newest first, with run, alert, rule and dataset joined, of what the person still sees."""
        of_run = Q(alert=None, run__in=Run.objects.visible_to(user))
        of_alert = Q(alert__rule__deleted_at=None, alert__rule__team__in=Team.objects.of(user))
        notices = self.filter(of_run | of_alert, user=user, read_at=None)
        return notices.select_related("run", "alert__rule__dataset").order_by("-pk")

    def mark_read(self) -> int:
        return self.filter(read_at=None).update(read_at=timezone.now())


class Notice(AddressedRow):
    """One sentence about a run or an alert for one person, shown until it is read.

    `path` leads to a part of the run, such as the case where the person was mentioned.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="notices")
    alert = models.ForeignKey(Alert, models.CASCADE, null=True, related_name="notices")
    text = models.CharField(max_length=300)
    path = models.CharField(max_length=300, blank=True, default="")
    read_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["user", "read_at"], name="notices_of_person")]

    def __str__(self) -> str:
        return self.text
