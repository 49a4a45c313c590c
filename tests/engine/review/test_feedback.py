"""A review given in two windows, and the failure tags of a review."""

from __future__ import annotations

import pytest

from scoring.engine.review.feedback import add_comment, edit_comment, give_review
from scoring.models import Comment, Output, Review, ReviewVerdict, Run, User
from scoring.models.reviews.review import StaleReviewError

pytestmark = pytest.mark.django_db


@pytest.fixture
def output(run: Run) -> Output:
    return Output.objects.select_related("case").get(output_set=run.output_set, case__position=1)


def test_what_was_seen_decides_whether_a_review_is_replaced(
    run: Run, output: Output, rita: User
) -> None:
    first = give_review(run, output, ReviewVerdict.PASS, by=rita, note="fine", seen=0)
    assert first.revision == 1
    with pytest.raises(StaleReviewError) as stale:
        give_review(run, output, ReviewVerdict.FAIL, by=rita, seen=0)
    assert stale.value.current == first
    assert Review.objects.get().verdict == ReviewVerdict.PASS
    assert give_review(run, output, ReviewVerdict.FAIL, by=rita, seen=1).revision == 2
    with pytest.raises(StaleReviewError):
        Review.objects.withdraw(run, output, by=rita, seen=1)
    assert give_review(run, output, ReviewVerdict.UNSURE, by=rita).revision == 3


def test_failure_tags_stay_unless_others_are_given(run: Run, output: Output, rita: User) -> None:
    give_review(run, output, ReviewVerdict.FAIL, by=rita, failure_tags=["tone"])
    assert give_review(run, output, ReviewVerdict.PASS, by=rita).failure_tags == ["tone"]
    assert give_review(run, output, ReviewVerdict.PASS, by=rita, failure_tags=[]).failure_tags == []


def test_a_comment_is_added_and_edited(run: Run, output: Output, rita: User) -> None:
    comment = add_comment(run, output, "first", by=rita)
    edit_comment(run, comment, "second", by=rita)
    assert Comment.objects.get().text == "second"
