"""The state of a run's reviews differs after each of their changes."""

from __future__ import annotations

import pytest

from scoring.engine.review.review_state import read_review_state
from scoring.models import Output, Review, ReviewVerdict, Run, User

pytestmark = pytest.mark.django_db


def test_each_change_makes_another_state(run: Run, rita: User, sam: User) -> None:
    output = Output.objects.filter(output_set=run.output_set).order_by("pk")[0]
    states = [read_review_state(run)]
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    states.append(read_review_state(run))
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita)
    states.append(read_review_state(run))
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=sam)
    states.append(read_review_state(run))
    Review.objects.withdraw(run, output, by=rita)
    states.append(read_review_state(run))
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita)
    states.append(read_review_state(run))
    assert len(set(states)) == len(states)
    assert read_review_state(run) == states[-1]
