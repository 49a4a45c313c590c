"""People's verdicts, and people against each other."""

from __future__ import annotations

import pytest

from scoring.core.stats.calibration import krippendorff_alpha
from scoring.engine.calibration.people import people_agreement, read_people
from scoring.models import DatasetVersion, Review, ReviewVerdict, User
from tests.support.reviewed_runs import give_in_turn, outputs_of, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


class TestPeople:
    def test_two_people_are_compared_by_cohens_kappa(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL, PASS, UNSURE])
        give_in_turn(run, people[1], [PASS, FAIL, FAIL, FAIL, UNSURE, PASS])
        found = people_agreement(Review.objects.of_run(run))
        assert (found.people, found.outputs) == (2, 4)
        assert found.only_pair is not None
        assert found.only_pair[:2] == ("ann@example.org", "ben@example.org")
        assert found.only_pair.table == (1, 1, 0, 2)

    def test_more_people_have_the_kappa_of_fleiss(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL])
        give_in_turn(run, people[1], [PASS, FAIL, FAIL])
        give_in_turn(run, people[2], [PASS, PASS, FAIL])
        found = people_agreement(Review.objects.of_run(run))
        assert (found.people, found.outputs, found.only_pair) == (3, 3, None)
        assert found.fleiss == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
        assert [pair.table.n for pair in found.pairs] == [3, 3, 3]
        assert not found.misses_outputs
        Review.objects.filter(reviewer=people[1]).delete()
        give_in_turn(run, people[1], [PASS, FAIL, FAIL, PASS])
        missing = people_agreement(Review.objects.of_run(run))
        assert missing.misses_outputs
        assert missing.alpha == pytest.approx(krippendorff_alpha([(3, 0), (1, 2), (0, 3), (1, 1)]))

    def test_imported_reviewers_are_told_apart_by_name(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        give_in_turn(run, people[0], [PASS, FAIL])
        Review.objects.bulk_create(
            Review(output_id=output, output_set=run.output_set, reviewer_name=name, verdict=PASS)
            for output in outputs_of(run)[:2]
            for name in ("Judy", "Karl")
        )
        found = people_agreement(Review.objects.of_run(run))
        assert found.people == 3
        assert {pair[:2] for pair in found.pairs} == {
            ("Judy", "Karl"),
            ("Judy", "ann@example.org"),
            ("Karl", "ann@example.org"),
        }

    def test_one_person_agrees_with_nobody(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        give_in_turn(run, people[0], [PASS, FAIL])
        found = people_agreement(Review.objects.of_run(run))
        assert (found.people, found.outputs, found.fleiss, found.pairs) == (0, 0, None, [])

    def test_decided_outputs_are_those_that_pass_or_fail(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        give_in_turn(run, people[0], [PASS, FAIL, UNSURE, BAD_CASE])
        first, second, *_ = outputs_of(run)
        assert read_people(Review.objects.of_run(run)).decided == {first: True, second: False}
