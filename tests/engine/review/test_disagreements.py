"""Outputs whose reviewers disagree: found, hidden from whoever still reviews, and decided."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.engine.review.disagreements import Disagreements, adjudicate
from scoring.engine.review.queues import QueuePlan, close_queue, create_queue
from scoring.models import Adjudication, Output, Review, ReviewVerdict, Role, Run, Team, User
from scoring.models.case_paging import CasePosition
from scoring.models.reviews.adjudication import AdjudicationError
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.review.conftest import member
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db
PASS, FAIL, UNSURE = ReviewVerdict.PASS, ReviewVerdict.FAIL, ReviewVerdict.UNSURE


def output_at(run: Run, position: int) -> Output:
    return Output.objects.get(output_set=run.output_set, case__position=position)


def disagree(run: Run, position: int, *verdicts: ReviewVerdict) -> Output:
    output = output_at(run, position)
    for number, verdict in enumerate(verdicts):
        Review.objects.create(output=output, reviewer_name=f"r{number}", verdict=verdict)
    return output


def positions(disagreements: Disagreements) -> list[tuple[int, bool]]:
    return [(each.position, each.is_decided) for each in disagreements.visible]


def test_pass_against_fail_disagrees_and_nothing_else(run: Run, rita: User) -> None:
    disagree(run, 4, FAIL, UNSURE, PASS)
    disagree(run, 1, PASS, PASS, UNSURE)
    disagree(run, 3, FAIL, PASS, PASS)
    disagree(run, 2, FAIL, ReviewVerdict.BAD_CASE)
    found = Disagreements(run, rita, Role.REVIEWER)
    assert positions(found) == [(3, False), (4, False)]
    (loaded,) = found.load([found.open[1].output])
    assert [review.reviewer_label for review in loaded.passing] == ["r2"]
    assert [review.reviewer_label for review in loaded.failing] == ["r0"]
    assert [review.reviewer_label for review in loaded.others] == ["r1"]


def test_another_runs_disagreements_are_not_this_ones(
    run: Run, rita: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    other = finished_run(make_outputs(make_dataset([{"expected": "a"}], "Other"), ["a"]))
    disagree(other, 1, PASS, FAIL)
    decided = disagree(other, 1)
    adjudicate(other, decided, PASS, by=rita, note="", seen=0)
    assert Disagreements(run, rita, Role.REVIEWER).all == []
    again = finished_run(other.output_set, name="same outputs")
    assert positions(Disagreements(again, rita, Role.REVIEWER)) == [(1, True)]


def test_outputs_are_compared_once_while_the_reviews_stay_what_they_are(
    run: Run, rita: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):  # adjudications, state of the reviews
        assert Disagreements(run, rita, Role.REVIEWER).all == []
    output = disagree(run, 3, FAIL, PASS)
    assert positions(Disagreements(run, rita, Role.REVIEWER)) == [(3, False)]
    with django_assert_num_queries(3):
        assert len(Disagreements(run, rita, Role.REVIEWER).all) == 1
    Review.objects.filter(output=output, verdict=PASS).update(verdict=FAIL, revision=2)
    assert Disagreements(run, rita, Role.REVIEWER).all == []
    first = output.reviews.order_by("pk")[0]
    first.delete()
    Review.objects.create(output=output, reviewer_name="r0", verdict=PASS)
    assert len(Disagreements(run, rita, Role.REVIEWER).all) == 1


def test_whoever_still_reviews_the_output_sees_it_after_their_own_verdict(
    run: Run, rita: User, sam: User
) -> None:
    output = disagree(run, 1, PASS, FAIL)
    queue = create_queue(run, QueuePlan("w46", [rita], 6), by=rita)
    assert Disagreements(run, rita, Role.REVIEWER).hidden_count == 1
    assert Disagreements(run, rita, Role.REVIEWER).find(output) is None
    assert Disagreements(run, sam, Role.REVIEWER).find(output)
    assert Disagreements(run, rita, Role.VIEWER).find(output)
    Review.objects.record(run, output, PASS, by=rita)
    assert Disagreements(run, rita, Role.REVIEWER).find(output)
    Review.objects.withdraw(run, output, by=rita)
    close_queue(queue, rita)
    assert Disagreements(run, rita, Role.REVIEWER).hidden_count == 0


def test_a_third_person_decides_and_the_next_open_one_follows(run: Run, team: Team) -> None:
    theo = member(team, "theo@example.org")
    outputs = [disagree(run, position, PASS, FAIL) for position in (2, 4, 6)]
    Review.objects.record(run, outputs[2], PASS, by=theo)
    found = Disagreements(run, theo, Role.REVIEWER)
    after = found.next_open(CasePosition(2, 0))
    assert after is not None
    assert after.position == 4
    after = found.next_open(CasePosition(4, 0))  # the last one is theo's own review
    assert after is not None
    assert after.position == 2
    adjudicate(run, outputs[0], FAIL, by=theo, note="", seen=0)
    adjudicate(run, outputs[1], FAIL, by=theo, note="", seen=0)
    found = Disagreements(run, theo, Role.REVIEWER)
    assert found.next_open(CasePosition(4, 0)) is None
    assert positions(found) == [(2, True), (4, True), (6, False)]


def test_what_is_agreed_on_is_not_adjudicated(run: Run, rita: User) -> None:
    output = disagree(run, 1, PASS, PASS)
    with pytest.raises(AdjudicationError, match="no longer disagree"):
        adjudicate(run, output, FAIL, by=rita, note="", seen=0)
    assert not Adjudication.objects.exists()
