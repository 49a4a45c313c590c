"""The verdict of a third person: given by none of the reviewers, and never over one unseen."""

from __future__ import annotations

import pytest

from scoring.models import Adjudication, AuditEntry, Output, Review, ReviewVerdict, Run, Team, User
from scoring.models.reviews.adjudication import AdjudicationError, StaleAdjudicationError
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return finished_run(make_outputs(make_dataset([{"input": "q", "expected": "a"}]), ["a"]))


def decide(run: Run, by: User, verdict: ReviewVerdict, seen: int) -> Adjudication:
    output = Output.objects.get()
    return Adjudication.objects.decide(run, output, verdict, by=by, note="n", seen=seen)


def test_a_third_person_decides_and_may_change_their_mind(run: Run, alice: User) -> None:
    first = decide(run, alice, ReviewVerdict.FAIL, 0)
    assert first.code == "fail"
    assert decide(run, alice, ReviewVerdict.PASS, first.revision).revision > first.revision
    entries = AuditEntry.objects.filter(action="review.adjudicated").order_by("pk")
    assert [entry.new["verdict"] for entry in entries] == ["fail", "pass"]
    assert str(Adjudication.objects.get()) == "alice@example.org: pass"


def test_a_reviewer_of_the_output_may_not(run: Run, alice: User) -> None:
    Review.objects.record(run, Output.objects.get(), ReviewVerdict.PASS, by=alice)
    with pytest.raises(AdjudicationError, match="may not adjudicate"):
        decide(run, alice, ReviewVerdict.FAIL, 0)


def test_two_people_at_once_do_not_overwrite_each_other(
    run: Run, alice: User, bob: User, team: Team
) -> None:
    first = decide(run, alice, ReviewVerdict.FAIL, 0)
    with pytest.raises(StaleAdjudicationError) as stale:
        decide(run, bob, ReviewVerdict.PASS, 0)
    assert stale.value.current == first
    assert Adjudication.objects.get().verdict == ReviewVerdict.FAIL
    assert team.pk == run.team_id


def test_clearing_removes_the_verdict_that_was_seen_alone(run: Run, alice: User, bob: User) -> None:
    output = Output.objects.get()
    seen = decide(run, alice, ReviewVerdict.FAIL, 0).revision
    with pytest.raises(StaleAdjudicationError):
        Adjudication.objects.clear(run, output, by=alice, seen=seen + 1)
    Review.objects.record(run, output, ReviewVerdict.PASS, by=bob)
    with pytest.raises(AdjudicationError, match="may not adjudicate"):
        Adjudication.objects.clear(run, output, by=bob, seen=seen)
    Adjudication.objects.clear(run, output, by=alice, seen=seen)
    assert not Adjudication.objects.exists()
    assert Adjudication.objects.clear(run, output, by=alice, seen=seen) is None
    entry = AuditEntry.objects.get(action="review.adjudication_cleared")
    assert entry.old == {"verdict": "fail", "note": "n"}


def test_a_verdict_that_was_cleared_is_not_taken_for_a_later_one(
    run: Run, alice: User, bob: User
) -> None:
    """Whoever has the page of the first one open does not overwrite the second unseen."""
    seen = decide(run, alice, ReviewVerdict.FAIL, 0).revision
    Adjudication.objects.clear(run, Output.objects.get(), by=alice, seen=seen)
    second = decide(run, bob, ReviewVerdict.PASS, 0)
    with pytest.raises(StaleAdjudicationError) as stale:
        decide(run, alice, ReviewVerdict.FAIL, seen)
    assert stale.value.current == second
