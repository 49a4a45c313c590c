"""The audit log: who changed what, written in the same transaction and never changed.

The entries of a team form a chain: each holds a hash over itself and the hash before it. Entries of
no team form a chain of their own. Triggers of the database refuse to change or delete one
(`audit_triggers`); `manage.py verify_audit` recomputes the chains (`audit_chain`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final, Self

from django.db import models, transaction
from django.utils import timezone
from django.utils.functional import cached_property

from scoring.models.locks import lock_name
from scoring.models.team.audit_hashes import checkpoint_signature, entry_hash
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField

SITE: Final = "the site"
OPERATOR: Final = "the operator"

#: Who acts where no person is given.
_nobody: ContextVar[str] = ContextVar("nobody", default=SITE)
#: Where the present request comes from.
_address: ContextVar[str | None] = ContextVar("address", default=None)


@contextmanager
def acting_as_operator() -> Iterator[None]:
    """Record what no person did as done by the operator, who runs this command."""
    token = _nobody.set(OPERATOR)
    try:
        yield
    finally:
        _nobody.reset(token)


@contextmanager
def acting_from(address: str) -> Iterator[None]:
    """Record this address with what is done meanwhile; "" for none."""
    token = _address.set(address or None)
    try:
        yield
    finally:
        _address.reset(token)


class AppendOnlyError(Exception):
    """Raised by any attempt to change or delete an audit entry."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def about(self, *targets: models.Model) -> Self:
        """What was done to any of these, newest first."""
        is_about = models.Q(pk__in=[])
        for target in targets:
            is_about |= models.Q(**_target_columns(target))
        return self.filter(is_about)

    def by(self, actor: User) -> Self:
        """What this person did."""
        return self.filter(actor_id=str(actor.pk))

    def matching(self, who: str, action: str, target: str, *, by_name: bool = True) -> Self:
        """Those with these texts in the name of who acted, the action, and what it was done to.

        "" matches all; an object is found by its id, its type, and with `by_name` its name. The
        case of ASCII letters does not count.
        """
        is_target = models.Q(target_id=target) | models.Q(target_type__holds=target)
        if by_name:
            is_target |= models.Q(target_name__holds=target)
        entries = self.filter(is_target) if target else self.all()
        return entries.filter(actor_name__holds=who, action__holds=action)

    def of(self, team: Team | None) -> Self:
        """The entries of a team; of None those of no team."""
        return self.filter(team_id=_team_id(team))

    def record(
        self,
        team: Team | None,
        actor: User | None,
        action: str,
        target: models.Model,
        *,
        old: Mapping[str, Any] | None = None,
        new: Mapping[str, Any] | None = None,
    ) -> AuditEntry:
        """One entry. `actor` is None when no person acted; `action` reads `noun.verb`."""
        entry = AuditEntry(
            team_id=_team_id(team),
            team_name=team.name if team else "",
            actor_id=str(actor.pk) if actor else "",
            actor_name=readable_name(actor.name, actor.email) if actor else _nobody.get(),
            action=action,
            **_target_columns(target),
            target_name=str(target)[:200],
            old=dict(old or {}),
            new=dict(new or {}),
            at=timezone.now(),
            address=_address.get(),
        )
        with transaction.atomic(savepoint=False):
            lock_name("audit", entry.team_id)
            number, previous = chain_end(entry.team_id)
            entry.number = number + 1
            entry.hash = entry.hash_after(previous)
            entry.save(force_insert=True)
        return entry

    def remove_before(self, team: Team | None, moment: datetime, by: User | None) -> int:
        """Remove the oldest entries of a team, up to the first that is not from before `moment`.

        Returns how many they were. A signed checkpoint of the last one takes their place; without
        it the database refuses. The removal is an entry itself.
        """
        with transaction.atomic():
            lock_name("audit", _team_id(team))
            last = self.of(team).oldest_before(moment).order_by("number").last()
            if last is None:
                return 0
            checkpoint = AuditCheckpoint.objects.sign(last)
            count = models.QuerySet.delete(self.of(team).filter(number__lte=last.number))[0]
            new = {"entries": count, "up_to": last.number}
            self.record(team, by, "audit.removed", checkpoint, new=new)
        return count

    def oldest_before(self, moment: datetime) -> Self:
        """Of one team, the entries up to the first that is not recorded before `moment`."""
        later = self.filter(at__gte=moment).aggregate(first=models.Min("number"))["first"]
        return self.all() if later is None else self.filter(number__lt=later)

    def update(self, **_: Any) -> int:
        raise AppendOnlyError("an audit entry is never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError("an audit entry is never deleted")


def readable_name(name: str, email: str) -> str:
    """How an entry names a person for good; the row of the person may go."""
    return f"{name} <{email}>" if name else email


def chain_end(team_id: str) -> tuple[int, str]:
    """Number and hash of the newest entry, else of the newest one that was removed; (0, "")."""
    for rows in (AuditEntry.objects.all(), AuditCheckpoint.objects.all()):
        newest = rows.filter(team_id=team_id).order_by("-number").values_list("number", "hash")
        if end := newest.first():
            return end
    return 0, ""


def _team_id(team: Team | None) -> str:
    return str(team.uuid) if team else ""


def _target_columns(target: models.Model) -> dict[str, str]:
    """The columns that say whom an entry is about."""
    return {
        "target_type": str(target._meta.verbose_name),
        "target_id": str(getattr(target, "uuid", target.pk)),
    }


class AuditEntry(models.Model):
    """One state change. It names people and teams by ids and texts, which outlive their rows.

    `team_id` is the team's UUID, `actor_id` the person's number; both are "" for none. `address` is
    where the request came from; None for what the site or a command did, and in entries from before
    addresses were kept. `number` counts the entries of a team from 1.
    """

    team_id = models.CharField(max_length=36, blank=True)
    team_name = models.CharField(max_length=100, blank=True)
    actor_id = models.CharField(max_length=20, blank=True)
    actor_name = models.CharField(max_length=360)
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.CharField(max_length=40)
    target_name = models.CharField(max_length=200)
    old = WrittenJSONField(default=dict)
    new = WrittenJSONField(default=dict)
    at = models.DateTimeField(default=timezone.now, editable=False)
    address = models.GenericIPAddressField(null=True)
    number = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["target_type", "target_id"], name="audit_by_target")]
        constraints = [
            models.UniqueConstraint(fields=["team_id", "number"], name="audit_chain_never_forks")
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AppendOnlyError("an audit entry is never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:  # noqa: ARG002
        raise AppendOnlyError("an audit entry is never deleted")

    def hash_after(self, previous: str) -> str:
        """The hash of this entry behind one of the hash `previous`."""
        who = (self.team_id, self.team_name, self.actor_id, self.actor_name)
        what = (self.action, self.target_type, self.target_id, self.target_name)
        where = (self.address,) if self.address else ()
        texts = (*who, *what, *where)
        return entry_hash(previous, self.number, self.at, texts, self.old, self.new)

    @cached_property
    def actor(self) -> User | None:
        """The person, where one acted whose row is still there."""
        return User.objects.filter(pk=self.actor_id).first() if self.actor_id else None

    @cached_property
    def team(self) -> Team | None:
        """The team, where its row is still there."""
        return Team.objects.filter(uuid=self.team_id).first() if self.team_id else None


class AuditCheckpointQuerySet(models.QuerySet["AuditCheckpoint"]):
    def sign(self, last: AuditEntry) -> AuditCheckpoint:
        """The checkpoint up to this entry."""
        checkpoint = AuditCheckpoint(
            team_id=last.team_id, number=last.number, last_id=last.pk, hash=last.hash
        )
        checkpoint.signature = checkpoint_signature(checkpoint.signed_text)
        checkpoint.save(force_insert=True)
        return checkpoint


class AuditCheckpoint(models.Model):
    """Stands for the oldest entries of a team, up to `number`, which were removed."""

    team_id = models.CharField(max_length=36, blank=True)
    number = models.PositiveBigIntegerField()
    last_id = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=100)
    at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AuditCheckpointQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["team_id", "number"], name="audit_checkpoint_once")
        ]

    def __str__(self) -> str:
        return f"up to entry {self.number}"

    @property
    def signed_text(self) -> str:
        return json.dumps((self.team_id, self.number, self.last_id, self.hash))
