"""Suites of scorers with the thresholds that count there, and the history of those.

The threshold of a scorer in a suite that a run or a dataset uses changes only with a reason, and
`Suite` refuses a change without one, whatever the path: a removed scorer keeps its threshold for
the time that it is added again. Who may give a reason is decided where people come in
(`evalsite/access.py`); commands act as the operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q

from scoring.models.base import AddressedRow, validate_name
from scoring.models.scorers.scorer import Scorer, rename_row
from scoring.models.scorers.threshold_change import (
    REASON_NEEDED,
    UNIT,
    ThresholdChange,
    check_change,
    refuse_stale,
)
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

if TYPE_CHECKING:
    from scoring.models.data.dataset import Dataset

UNUSED: Final = "Changed before anything used the suite."

#: A scorer, and its threshold in a suite; None for the one that the suite knows, else the default.
Entry = tuple[Scorer, float | None]


class ThresholdStep(NamedTuple):
    """A scorer that a suite knows, whose threshold would change."""

    scorer: Scorer
    old: float
    new: float


class SuiteQuerySet(models.QuerySet["Suite"]):
    def define(
        self, team: Team, name: str, entries: Iterable[Entry], by: User | None = None
    ) -> Suite:
        """A new suite; an entry without a threshold takes its scorer's default."""
        with transaction.atomic():
            suite = self.create(team=team, name=name)
            suite._write_entries((s, s.threshold if t is None else t) for s, t in entries)
            AuditEntry.objects.record(team, by, "suite.created", suite, new=suite.described())
        return suite

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By name, with the attribute `scorer_count`."""
        return self.annotate(scorer_count=models.Count("entries")).order_by("name")


class Suite(AddressedRow):
    """A named set of scorers. `revision` goes up with every change of an entry or a threshold."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="suites")
    name = models.CharField(max_length=120, validators=[validate_name])
    revision = models.PositiveIntegerField(default=1, editable=False)

    objects = SuiteQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="suite_name_once")]

    def __str__(self) -> str:
        return self.name

    def described(self) -> dict[str, Any]:
        """Name and thresholds by scorer, as the audit keeps them."""
        thresholds = {e.scorer.name: e.threshold for e in self.entries.select_related("scorer")}
        return {"name": self.name, "thresholds": thresholds}

    @property
    def is_used(self) -> bool:
        """Whether a dataset or a run refers to it, also a run that can still be restored."""
        return self.datasets.exists() or self.runs(manager="with_deleted").exists()

    def known_thresholds(self) -> dict[int, float]:
        """By id the threshold of each scorer in the suite, and the last one of each removed one."""
        changes = self.threshold_changes.order_by("pk").values_list("scorer", "old", "new")
        known: dict[int, float] = {}
        for scorer, old, new in changes:
            last = old if new is None else new
            if last is not None:
                known[scorer] = last
        return known | self._thresholds()

    def threshold_steps(self, entries: Iterable[Entry]) -> list[ThresholdStep]:
        """The scorers that these entries would give another threshold than the suite knows."""
        known = self.known_thresholds()
        steps = (ThresholdStep(s, known.get(s.pk, t), t) for s, t in entries if t is not None)
        return [step for step in steps if step.new != step.old]

    def rename(self, name: str, *, by: User | None) -> None:
        """Give the suite another name; runs keep the one they were scored under."""
        rename_row(self, "suite.renamed", name, by)

    def replace_entries(
        self, entries: Iterable[Entry], *, by: User | None, reason: str = ""
    ) -> None:
        """Put these scorers in place of the present ones, in this order.

        Without a threshold a scorer keeps the one that the suite knows, also where it was removed
        before. Raises ValidationError when another one is given without a reason and the suite is
        used.
        """
        with transaction.atomic():
            self.lock()
            present, known, old = self._thresholds(), self.known_thresholds(), self.described()
            wanted = [(s, known.get(s.pk, s.threshold) if t is None else t) for s, t in entries]
            pairs = [(scorer.pk, threshold) for scorer, threshold in wanted]
            if pairs == list(present.items()):
                return
            steps = self.threshold_steps(wanted)
            reason = self._checked_reason(reason) if steps else ""
            self._count_revision()
            self._keep_history(present, wanted, steps, by, reason)
            self._write_entries(wanted)
            for step in steps:
                entry = SuiteEntry.objects.get(suite=self, scorer=step.scorer)
                _record_step(entry, step, by, reason)
            if [pk for pk, _ in pairs] != list(present):
                new = self.described()
                AuditEntry.objects.record(self.team, by, "suite.changed", self, old=old, new=new)

    def change_thresholds(
        self, steps: Sequence[ThresholdStep], *, by: User | None, reason: str
    ) -> list[ThresholdChange]:
        """Set thresholds as one change with one reason: dated rows, audited, all or nothing.

        `old` of each step is the threshold that the person saw. Raises StaleThresholdError where
        another one stands or the scorer has left the suite, and ValidationError when a threshold
        stays, the reason is blank, or `new` is outside 0..1.
        """
        with transaction.atomic():
            self.lock()
            entries = {e.scorer_id: e for e in self.entries.select_related("scorer")}
            for step in steps:
                entry = entries.get(step.scorer.pk)
                refuse_stale(step.old, entry.threshold if entry else None, step.scorer, self)
                check_change(step.old, step.new, reason)
            changed = [entries[step.scorer.pk] for step in steps]
            for entry, step in zip(changed, steps, strict=True):
                entry.suite, entry.threshold = self, step.new
                entry.clean_fields(exclude=["suite", "scorer"])
            SuiteEntry.objects.bulk_update(changed, ["threshold"])
            self._count_revision()
            changes = self._record_changes([(*step, reason.strip()) for step in steps], by)
            for entry, step in zip(changed, steps, strict=True):
                _record_step(entry, step, by, reason.strip())
        return changes

    def _record_changes(
        self, rows: Iterable[tuple[Scorer, float | None, float | None, str]], by: User | None
    ) -> list[ThresholdChange]:
        """History of what changed with the present revision: scorer, old, new, reason."""
        return ThresholdChange.objects.bulk_create(
            ThresholdChange(
                suite=self,
                scorer=scorer,
                old=old,
                new=new,
                reason=why,
                revision=self.revision,
                changed_by=by,
            )
            for scorer, old, new, why in rows
        )

    def steps_for(self, dataset: Dataset) -> list[ThresholdStep]:
        """The scorers whose threshold changes for the dataset if this becomes its suite."""
        if dataset.suite is None:
            return []
        before, after = dataset.suite.known_thresholds(), self.known_thresholds()
        changed = [pk for pk in before.keys() & after.keys() if before[pk] != after[pk]]
        scorers = Scorer.objects.filter(pk__in=changed).order_by("name")
        return [ThresholdStep(s, before[s.pk], after[s.pk]) for s in scorers]

    def assign_to(self, dataset: Dataset, *, by: User | None, reason: str = "") -> None:
        """Make this the suite of a dataset.

        It takes over the thresholds of the dataset's former suite for scorers that it does not
        know, so that adding one of them later brings its threshold back. Raises ValidationError
        when a threshold changes for the dataset and no reason is given.
        """
        with transaction.atomic():
            self.lock()
            dataset.refresh_from_db(fields=["suite"])
            former = dataset.suite
            if former == self:
                return
            steps = self.steps_for(dataset)
            if steps and not reason.strip():
                raise ValidationError({"reason": REASON_NEEDED})
            if former:
                self._take_over(former, dataset, by)
            dataset.suite = self
            dataset.save(update_fields=["suite"])
            old: dict[str, Any] = {"suite": former.name if former else None}
            new: dict[str, Any] = {"suite": self.name}
            if steps:
                old["thresholds"] = {step.scorer.name: step.old for step in steps}
                new["thresholds"] = {step.scorer.name: step.new for step in steps}
                new["reason"] = reason.strip()
            action = "dataset.suite_changed"
            AuditEntry.objects.record(self.team, by, action, dataset, old=old, new=new)

    def _take_over(self, former: Suite, dataset: Dataset, by: User | None) -> None:
        known = self.known_thresholds()
        reason = f"Last threshold in {former}, which was the suite of {dataset} before."
        ThresholdChange.objects.bulk_create(
            ThresholdChange(
                suite=self, scorer_id=pk, old=threshold, new=None, reason=reason, changed_by=by
            )
            for pk, threshold in former.known_thresholds().items()
            if pk not in known
        )

    def _checked_reason(self, reason: str) -> str:
        """The reason to keep; raises ValidationError where one is needed and missing."""
        reason = reason.strip()
        if not reason and self.is_used:
            raise ValidationError({"reason": REASON_NEEDED})
        return reason or UNUSED

    def lock(self) -> None:
        """Until the transaction ends, nobody else changes the suite or begins to use it."""
        Suite.objects.select_for_update().get(pk=self.pk)

    def _thresholds(self) -> dict[int, float]:
        """By the scorers' ids in the suite's order, read anew."""
        entries = SuiteEntry.objects.filter(suite=self).order_by("position", "pk")
        return dict(entries.values_list("scorer", "threshold"))

    def _count_revision(self) -> None:
        Suite.objects.filter(pk=self.pk).update(revision=models.F("revision") + 1)
        self.refresh_from_db()

    def _keep_history(
        self,
        present: Mapping[int, float],
        wanted: Sequence[tuple[Scorer, float]],
        steps: Sequence[ThresholdStep],
        by: User | None,
        reason: str,
    ) -> None:
        """A row of history for each scorer that leaves, comes, or gets another threshold."""
        remaining = {scorer.pk for scorer, _ in wanted}
        moved = {step.scorer.pk for step in steps}
        leaving = Scorer.objects.in_bulk([pk for pk in present if pk not in remaining])
        left = [(scorer, present[pk], None, "") for pk, scorer in leaving.items()]
        changed = [(*step, reason) for step in steps]
        added = [
            (scorer, None, new, "")
            for scorer, new in wanted
            if scorer.pk not in present and scorer.pk not in moved
        ]
        self._record_changes([*left, *changed, *added], by)

    def _write_entries(self, wanted: Iterable[tuple[Scorer, float]]) -> None:
        """These entries in place of the present ones; a scorer that stays keeps its row."""
        rows = [
            SuiteEntry(suite=self, scorer=scorer, threshold=threshold, position=position)
            for position, (scorer, threshold) in enumerate(wanted)
        ]
        self.entries.exclude(scorer__in=[row.scorer_id for row in rows]).delete()
        SuiteEntry.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["suite", "scorer"],
            update_fields=["threshold", "position"],
        )


def _record_step(entry: SuiteEntry, step: ThresholdStep, by: User | None, reason: str) -> None:
    old, new = {"threshold": step.old}, {"threshold": step.new, "reason": reason}
    AuditEntry.objects.record(entry.suite.team, by, "threshold.changed", entry, old=old, new=new)


class SuiteEntry(models.Model):
    """A scorer in a suite, with the threshold that counts there."""

    suite = models.ForeignKey(Suite, models.CASCADE, related_name="entries")
    scorer = models.ForeignKey(Scorer, models.PROTECT, related_name="entries")
    threshold = models.FloatField(validators=UNIT)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "suite entries"
        constraints = [
            models.UniqueConstraint(fields=["suite", "scorer"], name="suite_scorer_once"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0, threshold__lte=1), name="entry_threshold_unit"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.suite} · {self.scorer}"

    def lock_threshold(self, seen: float) -> None:
        """Read the threshold anew; nobody else changes the suite until the transaction ends.

        Raises StaleThresholdError where another one than the `seen` one stands.
        """
        self.suite.lock()
        rows = SuiteEntry.objects.filter(pk=self.pk)
        current = rows.values_list("threshold", flat=True).first()
        if current is not None:
            self.threshold = current
        refuse_stale(seen, current, self.scorer, self.suite)

    def change_threshold(
        self, new: float, *, by: User | None, reason: str, seen: float | None = None
    ) -> ThresholdChange:
        """Set the threshold as `Suite.change_thresholds` does, of this scorer alone.

        `seen` is the threshold that the person saw, without it that of this object.
        """
        old = self.threshold if seen is None else seen
        with transaction.atomic():
            self.lock_threshold(old)
            step = ThresholdStep(self.scorer, old, new)
            (change,) = self.suite.change_thresholds([step], by=by, reason=reason)
        self.threshold = new
        return change
