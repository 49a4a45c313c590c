"""What retention rules would remove, before they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Sum

from scoring.engine.retention import rules
from scoring.models import Run, Team

MAX_NAMED: Final = 5


@dataclass(frozen=True)
class OldRuns:
    """How many runs would be deleted, the first of them, and how many stay as they are needed."""

    count: int
    first: list[Run]
    needed: int

    @property
    def unnamed(self) -> int:
        return self.count - len(self.first)


@dataclass(frozen=True)
class OldTexts:
    """How many output sets would lose their texts, and how many outputs they have."""

    sets: int
    outputs: int


@dataclass(frozen=True)
class RetentionPreview:
    """What would go at one moment; None where nothing of a kind ever goes."""

    runs: OldRuns | None
    texts: OldTexts | None
    replies: int | None
    entries: int | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all would go."""
        gone = (self.runs and self.runs.count, self.texts and self.texts.sets)
        return not any((*gone, self.replies, self.entries))


def preview_retention(team: Team, days: Mapping[str, int | None], at: datetime) -> RetentionPreview:
    """What rules with these days, by the fields of RetentionPolicy, would remove then."""
    before = {name: at - timedelta(days=count) for name, count in days.items() if count}
    return RetentionPreview(
        runs=_old_runs(team, before["runs_days"]) if "runs_days" in before else None,
        texts=_old_texts(team, before["texts_days"]) if "texts_days" in before else None,
        replies=rules.replies_to_remove(team, before["replies_days"]).count()
        if "replies_days" in before
        else None,
        entries=rules.entries_to_remove(team, before["audit_days"]).count()
        if "audit_days" in before
        else None,
    )


def _old_runs(team: Team, before: datetime) -> OldRuns:
    runs = rules.runs_to_delete(team, before)
    needed = rules.runs_still_needed(team, before).count()
    return OldRuns(runs.count(), list(runs.order_by("pk")[:MAX_NAMED]), needed)


def _old_texts(team: Team, before: datetime) -> OldTexts:
    sets = rules.sets_to_empty(team, before)
    outputs = sets.order_by().aggregate(sum=Sum("output_count"))["sum"] or 0
    return OldTexts(sets.count(), outputs)
