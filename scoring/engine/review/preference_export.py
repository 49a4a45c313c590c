"""The preferences of a pairwise queue as rows of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.core.files.writers import Fields
from scoring.engine.export import ExportTable
from scoring.models import Preference, ReviewQueue
from scoring.models.reviews.preference import PreferenceQuerySet

BATCH: Final = 2_000
COLUMNS: Final = (
    *("key", "trial", "candidate", "baseline", "reviewer", "verdict", "candidate_side", "note"),
    "date",
)


def preference_sheet(queue: ReviewQueue, preferences: PreferenceQuerySet) -> ExportTable:
    """These preferences between the two runs of the queue, in the order of cases and trials.

    `verdict` is that of the candidate's output, and `candidate_side` where it was shown.
    """
    assert queue.baseline is not None  # noqa: S101  a pairwise queue has one
    count = preferences.count()
    return ExportTable(
        f"{queue.run.output_set.version.dataset.name} {queue.name} preferences",
        count,
        COLUMNS,
        lambda: _rows(queue, preferences),
        lambda row: [row[column] for column in COLUMNS],
        Preference.objects.between(queue.run, queue.baseline).count() - count,
    )


def _rows(queue: ReviewQueue, preferences: PreferenceQuerySet) -> Iterator[Fields]:
    assert queue.baseline is not None  # noqa: S101  a pairwise queue has one
    rows = preferences.select_related("candidate__case", "reviewer")
    ordered = rows.order_by("candidate__case", "candidate__trial", "pk")
    for given in ordered.iterator(BATCH):
        yield {
            "key": given.candidate.case.key,
            "trial": given.candidate.trial,
            "candidate": queue.run.name,
            "baseline": queue.baseline.name,
            "reviewer": given.reviewer.email,
            "verdict": given.code,
            "candidate_side": "right" if given.is_swapped else "left",
            "note": given.note,
            "date": given.changed_at.isoformat(),
        }
