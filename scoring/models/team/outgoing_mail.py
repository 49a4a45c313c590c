"""Mail with a link into the site that waits to be sent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Self

from django.db import models
from django.utils import timezone

from scoring.models.team.invitation import Invitation
from scoring.models.team.team import User

LINK_KEY: Final = "UID-KEY"  # what stands in a link for its key
RETENTION: Final = timedelta(days=7)


class OutgoingMailQuerySet(models.QuerySet["OutgoingMail"]):
    def due(self) -> Self:
        """Those to send now, the longest waiting first."""
        return self.filter(next_try_at__lte=timezone.now()).order_by("next_try_at", "pk")

    def delete_old(self) -> None:
        """Forget those that were given up long ago."""
        self.filter(created_at__lt=timezone.now() - RETENTION).delete()


class OutgoingMail(models.Model):
    """A mail with a link: of an invitation, to confirm a person's new address, or without either to
    a new password.

    `address` is as somebody typed it: nobody may have an account there. `link` has LINK_KEY in
    place of the key, which is made when the mail is sent, so that no row and no backup holds one. A
    mail that was sent is deleted; `next_try_at` is None for one that was given up.
    """

    address = models.EmailField(max_length=254)
    invitation = models.ForeignKey(Invitation, models.CASCADE, null=True, related_name="mails")
    new_address_of = models.ForeignKey(User, models.CASCADE, null=True, related_name="+")
    link = models.URLField(max_length=500)
    try_count = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, default=timezone.now, db_index=True)
    error = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OutgoingMailQuerySet.as_manager()

    class Meta:
        verbose_name = "outgoing mail"
        verbose_name_plural = "outgoing mail"

    def __str__(self) -> str:
        subject = "a new address" if self.new_address_of_id else "a lost password"
        if self.invitation_id:
            subject = "an invitation"
        return f"mail about {subject}, {self.created_at:%Y-%m-%d %H:%M}"
