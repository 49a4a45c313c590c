"""Preferences: which of two outputs for the same case a person prefers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from django.db import models, transaction
from django.db.models import Exists, OuterRef

from scoring.models.base import AddressedRow
from scoring.models.reviews.queue import ReviewTask
from scoring.models.runs.run import Output, Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Role, User


class PreferenceVerdict(models.IntegerChoices):
    """What the candidate's output is, beside the baseline's."""

    BETTER = 1, "better"
    SAME = 0, "same"
    WORSE = -1, "worse"

    @property
    def code(self) -> str:
        """Its name in forms and in the API."""
        return self.name.lower()


class StalePreferenceError(Exception):
    """The person changed it in another window: `current` is it, None if it was cleared."""

    def __init__(self, current: Preference | None) -> None:
        self.current = current
        super().__init__("You compared these outputs in another window meanwhile.")


class PreferenceQuerySet(models.QuerySet["Preference"]):
    def between(self, run: Run, baseline: Run) -> Self:
        """Those between outputs of the two, whichever runs scored them."""
        return self.between_sets([run.output_set_id], [baseline.output_set_id])

    def between_sets(self, candidates: Sequence[int], baselines: Sequence[int]) -> Self:
        """Those whose outputs belong to these output sets."""
        # Expressions, lest SQLite walks all outputs of the sets instead of the few preferences.
        rows = self.alias(
            candidate_set=models.F("candidate__output_set") + 0,
            baseline_set=models.F("baseline__output_set") + 0,
        )
        return rows.filter(candidate_set__in=candidates, baseline_set__in=baselines)

    def readable_by(self, person: User, role: int) -> Self:
        """Those that a person of this role may see: of a pair, after their own; a viewer all."""
        if role < Role.REVIEWER:
            return self
        pair = {"candidate": OuterRef("candidate"), "baseline": OuterRef("baseline")}
        return self.filter(Exists(Preference.objects.filter(reviewer=person, **pair)))

    def prefer(
        self,
        run: Run,
        outputs: tuple[Output, Output],
        verdict: PreferenceVerdict,
        *,
        by: User,
        note: str = "",
        is_swapped: bool = False,
        seen: str | None = None,
    ) -> Preference:
        """What the person prefers of the candidate's and the baseline's output, audited.

        `seen` is the code of the verdict they saw, "" for none; without it any is replaced. Raises
        StalePreferenceError.
        """
        candidate, baseline = outputs
        with transaction.atomic():
            current = self._own(outputs, by)
            _check_seen(current, seen)
            row = current
            if row is None:
                pair = {"candidate": candidate, "baseline": baseline, "reviewer": by}
                row, is_new = self.get_or_create(**pair, defaults={"verdict": verdict})
                if not is_new:  # sent twice at the same moment
                    _check_seen(row, seen)
                    current = row
            old = current.audit_values if current else None
            row.verdict, row.note, row.is_swapped = verdict, note, is_swapped
            row.save()
            ReviewTask.objects.mark_pair(candidate, baseline, by, is_done=True)
            new = row.audit_values
            AuditEntry.objects.record(run.team, by, "preference.given", row, old=old, new=new)
        return row

    def clear(self, run: Run, outputs: tuple[Output, Output], *, by: User) -> Preference | None:
        """Remove the person's preference, audited; None if there is none."""
        with transaction.atomic():
            row = self._own(outputs, by)
            ReviewTask.objects.mark_pair(*outputs, by, is_done=False)
            if row is not None:
                old = row.audit_values
                AuditEntry.objects.record(run.team, by, "preference.cleared", row, old=old)
                row.delete()
        return row

    def _own(self, outputs: tuple[Output, Output], by: User) -> Preference | None:
        candidate, baseline = outputs
        rows = self.select_for_update().filter(candidate=candidate, baseline=baseline)
        return rows.filter(reviewer=by).first()


def _check_seen(current: Preference | None, seen: str | None) -> None:
    if seen is not None and (current.code if current else "") != seen:
        raise StalePreferenceError(current)


class Preference(AddressedRow):
    """One person's preference between an output of a candidate and one of its baseline.

    The two were shown without names; `is_swapped` says that the candidate's was the second.
    """

    candidate = models.ForeignKey(
        Output, models.CASCADE, related_name="preferences", db_index=False, db_constraint=False
    )
    baseline = models.ForeignKey(
        Output, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    reviewer = models.ForeignKey(User, models.CASCADE, related_name="preferences")
    verdict = models.SmallIntegerField(choices=PreferenceVerdict.choices)
    is_swapped = models.BooleanField(default=False)
    note = models.TextField(blank=True, default="")
    changed_at = models.DateTimeField(auto_now=True)

    objects = PreferenceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "baseline", "reviewer"], name="one_preference_a_person"
            )
        ]
        indexes = [models.Index(fields=["baseline"], name="preferences_of_baseline")]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.get_verdict_display()}"

    @property
    def code(self) -> str:
        """The verdict's name in forms and in the API."""
        return PreferenceVerdict(self.verdict).code

    @property
    def audit_values(self) -> dict[str, str]:
        """The preference as the audit keeps it."""
        return {"verdict": self.get_verdict_display(), "note": self.note}
