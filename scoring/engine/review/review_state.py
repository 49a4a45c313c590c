"""What tells whether the reviews of a run changed, so that counts of them can be cached."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Max, Sum

from scoring.models import Review, Run


class ReviewState(NamedTuple):
    """Differs after each change of the reviews of a run's outputs.

    A new review has the largest id, a deleted one is missed by the count, and a change raises a
    revision.
    """

    run: UUID
    number: int
    newest: int | None
    revisions: int | None


def read_review_state(run: Run) -> ReviewState:
    """One query, which an index answers."""
    reviews = Review.objects.of_run(run)
    columns = {"number": Count("*"), "newest": Max("pk"), "revisions": Sum("revision")}
    return ReviewState(run.uuid, **reviews.aggregate(**columns))
