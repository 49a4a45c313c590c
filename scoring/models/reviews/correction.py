"""Corrections: another expected value that a reviewer proposes for a case."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Self

from django.db import models, transaction
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.data.dataset import KEY_LENGTH, Dataset, DatasetVersion
from scoring.models.runs.run import Output, Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_NAMED: Final = 1_000  # cases that one audit entry names
MAX_REASON: Final = 2_000  # characters of a note or a reason


class DecidedError(Exception):
    """Somebody decided on some of the corrections meanwhile: `corrections` are these."""

    def __init__(self, corrections: Sequence[Correction]) -> None:
        self.corrections = corrections
        named = ", ".join(f"{each.key} {each.state}" for each in corrections[:5])
        by = corrections[0].decided_by if corrections else None
        super().__init__(
            f"{by or 'A former member'} decided in the meantime: {named}. Nothing was changed."
        )


class CorrectionState(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class CorrectionQuerySet(models.QuerySet["Correction"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(dataset__team__in=Team.objects.of(user), dataset__deleted_at=None)

    def open(self) -> Self:
        return self.filter(state=CorrectionState.OPEN)

    def count_open(self, team: Team) -> models.QuerySet[Dataset]:
        """The team's datasets with open corrections, by name, with `open_corrections`."""
        is_open = models.Q(corrections__state=CorrectionState.OPEN)
        datasets = Dataset.objects.filter(is_open, team=team)
        return datasets.annotate(open_corrections=models.Count("corrections")).order_by("name")

    def waiting_for(self, editor: User, team: Team) -> Self:
        """The open ones of others in the team, the oldest first, with dataset and author joined."""
        of_team = self.open().filter(dataset__team=team, dataset__deleted_at=None)
        waiting = of_team.exclude(author=editor)
        return waiting.select_related("dataset", "author").order_by("pk")

    def for_list(self) -> Self:
        """Newest first, with dataset, base, run, author, decider and version joined."""
        related = ("dataset__team", "base", "run", "version", "author", "decided_by")
        return self.select_related(*related).order_by("-pk")

    def decide(
        self,
        corrections: Sequence[Correction],
        state: CorrectionState,
        *,
        by: User,
        reason: str = "",
        version: DatasetVersion | None = None,
    ) -> None:
        """Close these corrections of one dataset, all or none; one audit entry.

        Raises DecidedError where somebody closed one of them meanwhile.
        """
        with transaction.atomic():
            keys = [correction.pk for correction in corrections]
            rows = self.select_for_update().filter(pk__in=keys).open().order_by("pk")
            still_open = list(rows.values_list("pk", flat=True))  # a count would lock nothing
            if len(still_open) < len(keys):
                closed = self.filter(pk__in=keys).exclude(state=CorrectionState.OPEN)
                raise DecidedError(list(closed.select_related("decided_by")))
            fields = {"decided_by": by, "decided_at": timezone.now(), "reason": reason}
            self.filter(pk__in=keys).update(state=state, version=version, **fields)
            new: dict[str, Any] = {"cases": [each.key for each in corrections[:MAX_NAMED]]}
            new |= {"count": len(keys)} | ({"reason": reason} if reason else {})
            new |= {"version": version.number} if version else {}
            dataset = corrections[0].dataset
            action = f"correction.{state.value}"
            AuditEntry.objects.record(dataset.team, by, action, dataset, new=new)


class Correction(AddressedRow):
    """A proposed expected value of a case; an editor other than its author approves it.

    `base` is the dataset version that the author saw. What was approved is in `version`.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="corrections")
    base = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="corrections")
    output = models.ForeignKey(
        Output, models.SET_NULL, null=True, related_name="corrections", db_constraint=False
    )
    key = models.CharField(max_length=KEY_LENGTH)
    expected_json = models.TextField(null=True, help_text="Null where nothing is expected.")
    note = models.TextField(blank=True, default="")
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="corrections")
    state = models.CharField(
        max_length=10, choices=CorrectionState.choices, default=CorrectionState.OPEN
    )
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True, default="")
    version = models.ForeignKey(
        DatasetVersion, models.SET_NULL, null=True, blank=True, related_name="corrections"
    )

    objects = CorrectionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["dataset", "state"], name="corrections_by_state")]

    def __str__(self) -> str:
        return f"{self.key}: {self.state}"

    @property
    def expected(self) -> Any:
        """The proposed value; None where nothing is to be expected."""
        return json.loads(self.expected_json) if self.expected_json is not None else None

    @property
    def is_open(self) -> bool:
        return self.state == CorrectionState.OPEN

    @property
    def team_id(self) -> int:
        return self.dataset.team_id
