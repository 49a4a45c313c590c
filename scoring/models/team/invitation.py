"""How people come into a team: invitations to an address, and a link for all of a domain."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Final, Self
from uuid import UUID

from django.core import signing
from django.db import models, transaction
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Role, Team, User

LIFETIME: Final = timedelta(days=7)
_SIGNER: Final = "evalsite.invitation"
#: The roles that a join link may give: whoever has an address there has not been looked at.
JOIN_ROLES: Final = (Role.VIEWER, Role.REVIEWER, Role.EDITOR)


def _expiry() -> datetime:
    return timezone.now() + LIFETIME


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Those that can still be accepted."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def of_key(self, key: str) -> Invitation | None:
        """The invitation whose link has this key, whatever became of it."""
        try:
            uid = UUID(signing.Signer(salt=_SIGNER).unsign(key))
        except (signing.BadSignature, ValueError):
            return None
        return self.select_related("team", "created_by").filter(uuid=uid).first()


class Invitation(AddressedRow):
    """A place in a team for whoever owns an e-mail address; accepted once.

    One that `is_requested` was asked for through the team's join link: its own link is mailed to
    the address and shown to nobody else.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="invitations")
    email = models.EmailField("e-mail", max_length=254)
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.VIEWER)
    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="invitations"
    )
    is_requested = models.BooleanField("asked for through the join link", default=False)
    expires_at = models.DateTimeField(default=_expiry)
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.email} · {self.get_role_display()}"

    @property
    def is_open(self) -> bool:
        """Whether it can still be accepted."""
        is_unused = self.accepted_at is None and self.revoked_at is None
        return is_unused and self.expires_at > timezone.now()

    def revoke(self, by: User | None) -> None:
        """Its link lets nobody in any more; one that was accepted stays so."""
        with transaction.atomic():
            unused = Invitation.objects.filter(pk=self.pk, accepted_at=None, revoked_at=None)
            if unused.update(revoked_at=timezone.now()):
                AuditEntry.objects.record(self.team, by, "invitation.revoked", self)

    @property
    def key(self) -> str:
        """The secret part of its link: signed, so that no row and no backup holds one."""
        return signing.Signer(salt=_SIGNER).sign(self.uuid.hex)


def _join_key() -> str:
    return secrets.token_urlsafe(16)


class JoinLink(models.Model):
    """Lets whoever has an address of a domain ask for an invitation, which is mailed there."""

    team = models.OneToOneField(Team, models.CASCADE, related_name="join_link")
    domain = models.CharField(max_length=253)
    role = models.PositiveSmallIntegerField(
        choices=[(role.value, role.label) for role in JOIN_ROLES], default=Role.VIEWER
    )
    key = models.CharField(max_length=22, unique=True, default=_join_key, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"anybody at {self.domain} · {self.get_role_display()}"

    def is_for(self, email: str) -> bool:
        """Whether the address is one of the domain itself; those of its subdomains are not."""
        return email.rpartition("@")[2].lower() == self.domain.lower()
