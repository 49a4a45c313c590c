"""The thresholds of a run's scorers today, and how they have changed since the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from django.db.models import QuerySet
from django.urls import reverse

from scoring.models import Relabel, Run, RunScorer, SuiteEntry, ThresholdChange
from scoring.models.prepared_query import prepared_query

MAX_LISTED: Final = 20


class RunThresholds:
    """The thresholds that a run's suite has today; none without a suite."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def current(self) -> Mapping[int, float]:
        """By the scorer's id."""
        return dict(_thresholds_of(self.run.suite_id)) if self.run.suite_id else {}

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

    def changes(self) -> Sequence[ThresholdChange]:
        """In the suite since the run was made, the newest first."""
        suite = self.run.suite_id
        return _changes_since(suite, self.run.created_at) if suite else ()


@prepared_query
def _thresholds_of(suite: int) -> QuerySet[SuiteEntry, tuple[int, float]]:
    return SuiteEntry.objects.filter(suite=suite).values_list("scorer", "threshold")


@prepared_query
def _changes_since(suite: int, moment: datetime) -> QuerySet[ThresholdChange]:
    changes = ThresholdChange.objects.filter(suite=suite, changed_at__gt=moment)
    return changes.select_related("scorer", "changed_by")[:MAX_LISTED]
