"""One verdict from all reviews of an output."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import Adjudication, Output, Review, ReviewVerdict, Role, Run, User
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseTable
from scoring.models.reviews.people_verdict import (
    PeopleFilter,
    PeopleVerdict,
    ReviewedOutput,
    reviewed_outputs,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import EXACT, finished_run
from tests.support.undone import undone

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"expected": "yes"} for _ in range(64)]
    return finished_run(make_outputs(make_dataset(cases), ["yes"] * 64), EXACT)


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_user(f"{name}@example.org") for name in ("ann", "ben", "cat")]


def outputs_of(run: Run) -> list[int]:
    return list(
        Output.objects.filter(output_set=run.output_set).order_by("pk").values_list("pk", flat=True)
    )


def give(output: int, people: list[User], *verdicts: ReviewVerdict) -> None:
    Review.objects.bulk_create(
        Review(
            output_id=output,
            output_set=Output.objects.get(pk=output).output_set,
            reviewer=person,
            verdict=verdict,
        )
        for person, verdict in zip(people, verdicts, strict=False)
    )


def test_the_verdict_given_most_often_is_that_of_people(run: Run, people: list[User]) -> None:
    """Three reviewers with any of the four verdicts, counted a second time."""
    outputs, wanted = outputs_of(run), {}
    for output, verdicts in zip(outputs, product(ReviewVerdict, repeat=3), strict=True):
        give(output, people, *verdicts)
        (first, most), *others = Counter(verdicts).most_common()
        is_split = any(count == most for _, count in others)
        verdict = PeopleVerdict.SPLIT if is_split else PeopleVerdict(first)
        votes = verdicts.count(PASS), verdicts.count(FAIL)
        wanted[output] = ReviewedOutput(output, verdict, *votes)
    assert {each.output: each for each in reviewed_outputs(Review.objects.of_run(run))} == wanted
    for verdict in PeopleVerdict:
        found = PeopleFilter(Review.objects.of_run(run), verdict).outputs()
        assert set(found.values_list("pk", flat=True)) == {
            output for output, each in wanted.items() if each.verdict == verdict
        }


def test_one_reviewer_decides_and_two_may_be_split(
    run: Run, people: list[User], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[list[ReviewVerdict], PeopleVerdict]] = [
        ([PASS], PeopleVerdict.PASS),
        ([UNSURE], PeopleVerdict.UNSURE),
        ([BAD_CASE], PeopleVerdict.BAD_CASE),
        ([PASS, FAIL], PeopleVerdict.SPLIT),
        ([PASS, UNSURE], PeopleVerdict.SPLIT),
    ]
    for verdicts, wanted in cases:
        with subtests.test(verdicts=verdicts, wanted=wanted), undone():
            give(outputs_of(run)[0], people, *verdicts)
            assert [each.verdict for each in reviewed_outputs(Review.objects.of_run(run))] == [
                wanted
            ]


def test_an_adjudicated_verdict_goes_before_all_reviews(run: Run, people: list[User]) -> None:
    output = Output.objects.get(pk=outputs_of(run)[0])
    give(output.pk, people[:2], PASS, FAIL)
    Adjudication.objects.decide(run, output, FAIL, by=people[2], note="", seen=0)
    (found,) = reviewed_outputs(Review.objects.of_run(run))
    assert found == (output.pk, PeopleVerdict.FAIL, 1, 1)
    failed = PeopleFilter(Review.objects.of_run(run), PeopleVerdict.FAIL).outputs()
    assert list(failed) == [output]


def test_reviews_of_other_outputs_are_left_out(
    run: Run, people: list[User], make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    other = finished_run(make_outputs(make_dataset([{"expected": "a"}]), ["b"]), EXACT)
    give(outputs_of(other)[0], people, FAIL)
    assert not list(reviewed_outputs(Review.objects.of_run(run)))


def test_all_outputs_are_read_by_one_query(run: Run, people: list[User]) -> None:
    for output in outputs_of(run):
        give(output, people, PASS, FAIL, PASS)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(list(reviewed_outputs(Review.objects.of_run(run)))) == 64
    assert len(queries) == 1


class TestCases:
    def positions(self, run: Run, filters: CaseFilters) -> list[int]:
        return [row.place.position for row in CaseTable(run, [], filters).page().rows]

    def test_cases_are_listed_by_what_people_say(self, run: Run, people: list[User]) -> None:
        first, second, third, *_ = outputs_of(run)
        give(first, people, PASS, FAIL, PASS)
        give(second, people, FAIL)
        give(third, people, PASS)
        reviews = Review.objects.of_run(run)
        passed = CaseFilters(people=PeopleFilter(reviews, PeopleVerdict.PASS))
        failed = CaseFilters(people=PeopleFilter(reviews, PeopleVerdict.FAIL))
        assert self.positions(run, passed) == [1, 3]
        assert self.positions(run, failed) == [2]
        assert CaseTable(run, [], passed, has_one_each=True).count == 2

    def test_the_blind_see_no_case_before_their_own_review(
        self, run: Run, people: list[User]
    ) -> None:
        first, second, *_ = outputs_of(run)
        give(first, people, PASS, PASS)
        give(second, people[:1], PASS)
        readable_by_ben = Review.objects.of_run(run).readable_by(people[1], Role.REVIEWER)
        passed = CaseFilters(people=PeopleFilter(readable_by_ben, PeopleVerdict.PASS))
        assert self.positions(run, passed) == [1]
