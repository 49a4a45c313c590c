"""The reviews of a run as rows that their own import reads back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.core.files.writers import Fields
from scoring.engine.export import ExportTable
from scoring.models import Run
from scoring.models.reviews.review import Review, ReviewQuerySet

BATCH: Final = 2_000
COLUMNS: Final = (
    *("key", "trial", "reviewer", "verdict", "score", "note", "failure_tags", "answers", "date"),
)


def review_sheet(run: Run, reviews: ReviewQuerySet) -> ExportTable:
    """These reviews of the run's outputs, in the order of cases and trials."""
    count = reviews.count()
    return ExportTable(
        f"{run.output_set.version.dataset.name} {run.name} reviews",
        count,
        COLUMNS,
        lambda: _rows(reviews),
        lambda row: [row[column] for column in COLUMNS],
        Review.objects.of_run(run).count() - count,
    )


def _rows(reviews: ReviewQuerySet) -> Iterator[Fields]:
    rows = reviews.select_related("output__case", "reviewer")
    for review in rows.order_by("output__case", "output__trial", "pk").iterator(BATCH):
        yield review_fields(review)


def review_fields(review: Review) -> Fields:
    """A review, with its output's case and its reviewer joined, as imports take it."""
    return {
        "key": review.output.case.key,
        "trial": review.output.trial,
        "reviewer": review.reviewer.email if review.reviewer else review.reviewer_name,
        "verdict": review.code,
        "score": review.score,
        "note": review.note,
        "failure_tags": review.failure_tags,
        "answers": review.answers,
        "date": review.changed_at.isoformat(),
    }
