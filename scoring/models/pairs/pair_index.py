"""An index of pairs: the positions of small selections, stored with a comparison.

To find them again would mean to join all cases of both runs for every page of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from django.db import models
from django.db.models import F, QuerySet

from scoring.core.charts.comparison_charts import ScoreRange
from scoring.models.pairs.comparison import Comparison
from scoring.models.pairs.rows import PairKind
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import Run


class PairIndexQuerySet(models.QuerySet["PairIndex"]):
    def current(self) -> Self:
        """Those of runs that have not been scored again since they were compared."""
        return self.filter(
            comparison__baseline_finished_at=F("comparison__baseline__finished_at"),
            comparison__candidate_finished_at=F("comparison__candidate__finished_at"),
        )


class PairIndex(models.Model):
    """The pairs of one kind: how many there are, and their positions where these are few.

    `positions` rise, and are those of the list that `Pairs` gives: of the candidate's dataset
    version, for what only the baseline has of the baseline's; None where they are many. With a
    `scorer`, by name, its verdicts decide the kind, else those of whole cases; with a `change`,
    as `change_text` writes it, its scores changed so.
    """

    comparison = models.ForeignKey(
        Comparison, models.CASCADE, related_name="places", db_index=False
    )
    kind = models.CharField(max_length=20)  # of PairKind
    scorer = models.CharField(max_length=120, default="", blank=True)
    change = models.CharField(max_length=40, default="", blank=True)
    total = models.PositiveIntegerField()
    positions = models.JSONField(null=True)

    objects = PairIndexQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["comparison", "kind", "scorer", "change"], name="places_once"
            )
        ]
        verbose_name_plural = "pair indexes"

    def __str__(self) -> str:
        return f"{self.comparison}: {self.total} {PairKind(self.kind).label}"


class IndexedList(NamedTuple):
    """What is kept of one list. Both are None where nothing is; positions also where many are."""

    total: int | None = None
    positions: Sequence[int] | None = None


NOT_INDEXED = IndexedList()


def indexed_list(
    baseline: Run,
    candidate: Run,
    kind: PairKind,
    scorer: str = "",
    change: ScoreRange | None = None,
) -> IndexedList:
    """What is kept of the list of the two runs and still holds; one query."""
    changed = change_text(change) if change else ""
    row = _current_lists.first(baseline.pk, candidate.pk, kind.value, scorer, changed)
    return IndexedList(*row) if row else NOT_INDEXED


@prepared_query
def _current_lists(
    baseline: int, candidate: int, kind: str, scorer: str, change: str
) -> QuerySet[PairIndex, Any]:
    rows = PairIndex.objects.current().filter(
        comparison__baseline=baseline, comparison__candidate=candidate
    )
    return rows.filter(kind=kind, scorer=scorer, change=change).values_list("total", "positions")


def change_text(change: ScoreRange) -> str:
    """As rows keep it; the last bits of the numbers do not count."""
    return f"{change.low:g}..{change.high:g}"
