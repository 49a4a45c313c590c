"""What people say of outputs: reviews and comments, with a notice to whom they mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from scoring.core.questions import Answers
from scoring.engine.review.mentions import notify_mentioned
from scoring.models import Comment, Output, Review, ReviewVerdict, Run, User


def give_review(
    run: Run,
    output: Output,
    verdict: ReviewVerdict,
    *,
    by: User,
    note: str = "",
    failure_tags: Sequence[str] | None = None,
    answers: Mapping[str, Answers] | None = None,
    seen: int | None = None,
) -> Review:
    """See `Review.objects.record`. Raises StaleReviewError."""
    with transaction.atomic():
        previous = Review.objects.filter(output=output, reviewer=by).first()
        old = previous.note if previous else ""
        review = Review.objects.record(
            run,
            output,
            verdict,
            by=by,
            note=note,
            failure_tags=failure_tags,
            answers=answers,
            seen=seen,
        )
        notify_mentioned(run, output, note, old, by=by)
    return review


def add_comment(run: Run, output: Output, text: str, *, by: User) -> Comment:
    """A new comment at the end of the output's thread."""
    with transaction.atomic():
        comment = Comment.objects.add(run, output, text, by=by)
        notify_mentioned(run, output, text, by=by)
    return comment


def edit_comment(run: Run, comment: Comment, text: str, *, by: User) -> None:
    """Give a comment another text."""
    with transaction.atomic():
        old = comment.text
        comment.edit(run, text, by=by)
        notify_mentioned(run, comment.output, text, old, by=by)
