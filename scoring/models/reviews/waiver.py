"""Waivers: cases of a dataset that a scorer may fail until a date, for a reason, under an owner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final, NamedTuple, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.dispatch import Signal
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.data.dataset import KEY_LENGTH, Dataset
from scoring.models.scorers.scorer import Scorer
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Role, Team, User

MAX_REASON: Final = 2_000  # characters
MAX_NAMED: Final = 1_000  # cases that one audit entry names

#: Sent in the transaction that changes which broken cases of a `dataset` count.
sign_off_changed: Final = Signal()

REASON_NEEDED: Final = "Enter a reason why the case may fail."


class WaivedScorer(NamedTuple):
    """What one waiver is about: a case, by its key, and a scorer that it may fail."""

    key: str
    scorer: int


class Terms(NamedTuple):
    """What a waiver asks for: the last day it holds, why, and who answers for it."""

    until: date
    reason: str
    owner: User


class WaiverQuerySet(models.QuerySet["Waiver"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(dataset__team__in=Team.objects.of(user), dataset__deleted_at=None)

    def open(self) -> Self:
        """Those that nobody has ended or replaced, whether or not their date has passed."""
        return self.filter(ended_at=None)

    def active(self, today: date | None = None) -> Self:
        """The open ones that hold on this day."""
        return self.open().filter(until__gte=today or timezone.localdate())

    def in_state(self, state: str) -> Self:
        """Those whose `state` is this one today."""
        if state == "ended":
            return self.exclude(ended_at=None)
        today = timezone.localdate()
        return self.active() if state == "active" else self.open().filter(until__lt=today)

    def for_list(self) -> Self:
        """Newest first, with dataset, scorer, owner and author joined."""
        related = ("dataset__team", "scorer", "owner", "created_by", "ended_by")
        return self.select_related(*related).order_by("-pk")

    def waive(
        self, dataset: Dataset, about: Iterable[WaivedScorer], terms: Terms, *, by: User
    ) -> list[Waiver]:
        """A waiver for each of these, in place of the open one that it may have; one audit entry.

        Raises ValidationError by field where the terms are not sound.
        """
        terms = _checked_terms(dataset, terms)
        wanted = sorted(set(about))
        with transaction.atomic():
            Dataset.objects.select_for_update().get(pk=dataset.pk)
            self._replace(dataset, wanted, by)
            made = Waiver.objects.bulk_create(
                Waiver(
                    dataset=dataset,
                    case_key=key,
                    scorer_id=scorer,
                    created_by=by,
                    **terms._asdict(),
                )
                for key, scorer in wanted
            )
            _record("waiver.created", dataset, made, by)
        return made

    def _replace(self, dataset: Dataset, wanted: Sequence[WaivedScorer], by: User) -> None:
        present = self.filter(dataset=dataset, case_key__in={key for key, _ in wanted}).open()
        pairs = set(wanted)
        replaced = [w.pk for w in present if WaivedScorer(w.case_key, w.scorer_id) in pairs]
        self.filter(pk__in=replaced).update(ended_at=timezone.now(), ended_by=by)

    def end(self, dataset: Dataset, waivers: Iterable[Waiver], *, by: User) -> int:
        """End the open ones among these waivers of the dataset; returns how many they were."""
        wanted = {waiver.pk for waiver in waivers}
        with transaction.atomic():
            ended = list(self.filter(dataset=dataset, pk__in=wanted).open())
            still_open = self.filter(pk__in=[waiver.pk for waiver in ended])
            still_open.update(ended_at=timezone.now(), ended_by=by)
            if ended:
                _record("waiver.ended", dataset, ended, by)
        return len(ended)

    def reopen(self, dataset: Dataset, waivers: Iterable[Waiver], *, by: User) -> int:
        """Undo the end of these waivers, where none has taken their place since."""
        wanted = {waiver.pk for waiver in waivers}
        with transaction.atomic():
            Dataset.objects.select_for_update().get(pk=dataset.pk)
            ended = self.filter(dataset=dataset, pk__in=wanted, ended_at__isnull=False)
            taken = models.Exists(
                Waiver.objects.open().filter(
                    dataset=dataset,
                    case_key=models.OuterRef("case_key"),
                    scorer=models.OuterRef("scorer"),
                )
            )
            reopened = list(ended.exclude(taken).order_by("pk"))
            newest = {WaivedScorer(w.case_key, w.scorer_id): w for w in reopened}
            rows = self.filter(pk__in=[waiver.pk for waiver in newest.values()])
            rows.update(ended_at=None, ended_by=None)
            if newest:
                _record("waiver.reopened", dataset, list(newest.values()), by)
        return len(newest)


class Waiver(AddressedRow):
    """A case of a dataset that one scorer may fail until a day, which is included.

    It counts for whoever compares a run of the dataset from then on; a case whose failing scorers
    are not all waived still counts as a regression. The terms never change: other terms are another
    waiver, which ends this one.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="waivers")
    case_key = models.CharField(max_length=KEY_LENGTH)
    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="waivers")
    until = models.DateField(help_text="The last day on which it holds.")
    reason = models.TextField()
    owner = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True, editable=False)
    ended_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )

    objects = WaiverQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "case_key", "scorer"],
                condition=Q(ended_at=None),
                name="open_waiver_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.case_key} · {self.scorer} until {self.until.isoformat()}"

    @property
    def team(self) -> Team:
        return self.dataset.team

    @property
    def team_id(self) -> int:
        return self.dataset.team_id

    @property
    def audit_values(self) -> dict[str, str]:
        """The waiver as the audit keeps it."""
        return {
            "id": str(self.uuid),
            "case": self.case_key,
            "scorer": self.scorer.name,
            "until": self.until.isoformat(),
            "reason": self.reason,
            "owner": self.owner.email if self.owner else "",
        }

    @property
    def is_expired(self) -> bool:
        """Whether its last day is over; the site's day counts."""
        return self.until < timezone.localdate()

    @property
    def state(self) -> str:
        """One of active, expired, ended."""
        if self.ended_at is not None:
            return "ended"
        return "expired" if self.is_expired else "active"


def _checked_terms(dataset: Dataset, terms: Terms) -> Terms:
    """The terms with a trimmed reason. Raises ValidationError by field."""
    errors: dict[str, str] = {}
    reason = terms.reason.strip()
    if not reason:
        errors["reason"] = REASON_NEEDED
    elif len(reason) > MAX_REASON:
        errors["reason"] = f"At most {MAX_REASON:,} characters; these are {len(reason):,}."
    if terms.until < timezone.localdate():
        errors["until"] = "This day is over: choose today or a later day."
    is_member = terms.owner.memberships.filter(team=dataset.team_id, role__gte=Role.REVIEWER)
    if not is_member.exists():
        errors["owner"] = "The owner must be a reviewer, an editor or an admin of the team."
    if errors:
        raise ValidationError(errors)
    return terms._replace(reason=reason)


def _record(action: str, dataset: Dataset, waivers: Sequence[Waiver], by: User) -> None:
    """One entry about the dataset for what one act did to these waivers of it."""
    rows = Waiver.objects.filter(pk__in=[w.pk for w in waivers]).select_related("scorer", "owner")
    new: dict[str, Any] = {
        "waivers": [row.audit_values for row in rows.order_by("pk")[:MAX_NAMED]],
        "count": len(waivers),
    }
    AuditEntry.objects.record(dataset.team, by, action, dataset, new=new)
    sign_off_changed.send(Waiver, dataset=dataset)
