"""The thresholds of a run's scorers today, and how they have changed since the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from django.db.models import QuerySet
from django.urls import reverse

from scoring.models import Relabel, Run, RunScorer, SuiteEntry, ThresholdChange

MAX_LISTED: Final = 20


class RunThresholds:
    """The thresholds that a run's suite has today; none without a suite."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def current(self) -> Mapping[int, float]:
        """By the scorer's id."""
        entries = SuiteEntry.objects.filter(suite=self.run.suite_id)
        return dict(entries.values_list("scorer", "threshold")) if self.run.suite_id else {}

    def url_of(self, scorer: RunScorer) -> str:
        """The page of the scorer's threshold in the suite, else of its default."""
        known = scorer.version.scorer
        if self.run.suite and known.pk in self.current:
            return reverse("suite_threshold", args=[self.run.suite.uuid, known.uuid])
        return reverse("scorer_threshold", args=[known.uuid])

    def can_relabel(self, scorers: Iterable[RunScorer], latest: Relabel | None) -> bool:
        """Whether the suite has thresholds by which the run is not labelled yet."""
        found = ((scorer, self.current.get(scorer.version.scorer_id)) for scorer in scorers)
        new = {s.name: t for s, t in found if t is not None and t != s.threshold}
        return bool(new) and new != (latest.thresholds if latest else {})

    def changes(self) -> QuerySet[ThresholdChange]:
        """In the suite since the run was made, the newest first."""
        if self.run.suite_id is None:
            return ThresholdChange.objects.none()
        changes = ThresholdChange.objects.filter(
            suite=self.run.suite_id, changed_at__gt=self.run.created_at
        )
        return changes.select_related("scorer", "changed_by")[:MAX_LISTED]
