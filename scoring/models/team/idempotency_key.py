"""Idempotency keys: requests that may be sent twice and count once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils import timezone

from scoring.models.team.team import Team, User

#: A request that took longer than this is taken to have died with its process.
ABANDONED_AFTER = timedelta(minutes=2)
RETENTION = timedelta(days=1)
KEY_LENGTH = 200


class IdempotencyKeyQuerySet(models.QuerySet["IdempotencyKey"]):
    def claim(
        self, team: Team, user: User, path: str, key: str, digest: str
    ) -> tuple[IdempotencyKey, bool]:
        """The row of this key, and whether the caller is the one to do the work.

        Of callers that come at once only one is; it does the work and then calls `keep`. A row
        whose worker died is handed to one of those who ask for it later.
        """
        fields = {"team": team, "user": user, "path": path, "key": key}
        try:
            with transaction.atomic():
                return self.create(**fields, digest=digest), True
        except IntegrityError:
            row = self.filter(**fields).first()
        if row is None:  # the other request came to nothing meanwhile
            return self.claim(team, user, path, key, digest)
        if row.status is not None or row.digest != digest:
            return row, False
        return row, row._take_over()

    def delete_expired(self) -> None:
        """Remove the answers of more than RETENTION ago."""
        self.filter(claimed_at__lt=timezone.now() - RETENTION).delete()


class LostClaimError(Exception):
    """The work took so long that somebody else has taken it over."""


class IdempotencyKey(models.Model):
    """One POST with an Idempotency-Key header, and the answer it got.

    `status` and `body` are None while the first request still works; `digest` is SHA-256 over
    what was sent.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    path = models.CharField(max_length=200)
    key = models.CharField(max_length=KEY_LENGTH)
    digest = models.CharField(max_length=64)
    claimed_at = models.DateTimeField(default=timezone.now, db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)

    objects = IdempotencyKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "team", "path", "key"], name="idempotency_key_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} {self.key}"

    def keep(self, status: int, body: Any) -> None:
        """Keep the answer. To be called in the transaction that did the work.

        Raises LostClaimError, which must undo that transaction.
        """
        if not self._unchanged().update(status=status, body=body):
            raise LostClaimError

    def release(self) -> None:
        """Forget the key: nothing came of the request, and it may be sent again."""
        self._unchanged().delete()

    def _take_over(self) -> bool:
        now = timezone.now()
        if self.claimed_at > now - ABANDONED_AFTER:
            return False
        is_taken = bool(self._unchanged().update(claimed_at=now))
        self.claimed_at = now
        return is_taken

    def _unchanged(self) -> models.QuerySet[IdempotencyKey]:
        """The row itself, unless answered or claimed anew since it was read."""
        return IdempotencyKey.objects.filter(pk=self.pk, claimed_at=self.claimed_at, status=None)
