"""Scorers of a run, and versions of a scorer, against people's reviews."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.calibration import scorers as calibrations
from scoring.engine.calibration.scorers import (
    RunCalibration,
    calibrate_run,
    calibrate_runs,
    calibrate_versions,
)
from scoring.models import DatasetVersion, ReviewVerdict, Run, Score, Scorer, Team, User
from scoring.models.reviews.people_verdict import PeopleVerdict
from tests.support.finished_runs import Given
from tests.support.reviewed_runs import give, give_in_turn, outputs_of, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


def calibrated(run: Run) -> RunCalibration:
    return calibrate_run(run, run.scorers.with_summary())


class TestRun:
    def test_each_scorer_is_counted_against_people(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9, 0.6, 0.4, 0.2, 0.7], "strict": [1, 0, 0, 0, 1]})
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL, FAIL])
        close, strict = calibrated(run).scorers
        assert (close.scorer.name, close.table) == ("close", (2, 1, 0, 2))
        assert (strict.scorer.name, strict.table) == ("strict", (1, 1, 1, 2))

    def test_the_most_frequent_verdict_speaks_for_people(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        outputs = outputs_of(run)
        for person, verdict in zip(people, (PASS, FAIL, PASS), strict=True):
            give(person, {outputs[0]: verdict})
        give(people[0], {outputs[1]: PASS, outputs[2]: UNSURE, outputs[3]: BAD_CASE})
        give(people[1], {outputs[1]: FAIL, outputs[2]: UNSURE})
        found = calibrated(run)
        assert found.scorers[0].table == (1, 0, 0, 0)
        assert found.people.counts[PeopleVerdict.PASS] == 1
        assert found.people.left_out == {
            PeopleVerdict.UNSURE: 1,
            PeopleVerdict.BAD_CASE: 1,
            PeopleVerdict.SPLIT: 1,
        }

    def test_outputs_without_a_score_are_left_out_and_counted(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.9, "error", "skip", 0.1]})
        give_in_turn(run, people[0], [PASS] * 4)
        (found,) = calibrated(run).scorers
        assert (found.table, found.unscored) == ((1, 0, 1, 0), 2)

    def test_a_fault_fails_at_any_threshold(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [0.8, 0.8, 0.3, 0.0]})
        give_in_turn(run, people[0], [PASS, FAIL, FAIL, FAIL])
        Score.objects.filter(output=outputs_of(run)[1]).update(code="invalid_json", verdict=1)
        (found,) = calibrated(run).scorers
        assert found.best is not None
        assert (found.best.threshold, found.best.table) == (0.8, (1, 0, 0, 3))

    def test_without_reviews_there_is_nothing(self, version: DatasetVersion) -> None:
        found = calibrated(scored_run(version, {"close": [0.9]}))
        assert (found.scorers[0].table.n, found.people.outputs, found.best) == (0, {}, None)

    def test_reviews_of_another_run_do_not_count(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run, other = (scored_run(version, {"close": [0.9]}, name) for name in ("a", "b"))
        give_in_turn(other, people[0], [PASS, FAIL])
        assert calibrated(run).scorers[0].table.n == 0

    def test_the_best_threshold_is_told_from_that_of_the_run(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        scores: list[Given] = [0.9, 0.8, 0.4, 0.1] * 10
        run = scored_run(version, {"close": scores, "low": [score and 0.6 for score in scores]})
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL] * 10)
        close, low = calibrated(run).scorers
        assert close.best is not None
        assert (close.best.threshold, close.best.as_good) == (0.8, (0.4, 0.8))
        assert close.is_best_threshold  # 0.5
        assert low.best is None
        assert not low.is_best_threshold

    def test_as_many_queries_for_many_reviews_and_scorers(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        one = scored_run(version, {"close": [0.9]})
        many = scored_run(version, {name: [0.9] for name in ("close", "a", "b", "c")}, "many")
        give_in_turn(one, people[0], [PASS])
        for person in people:
            give_in_turn(many, person, [PASS, FAIL] * 60)
        for run in (one, many):
            with CaptureQueriesContext(connection) as queries:
                calibrated(run)
            assert len(queries) == 4


class TestBestScorer:
    SCORES: dict[str, Sequence[Given]] = {
        "good": [0.9, 0.9, 0.1, 0.1] * 25,
        "nearly": [0.9, 0.9, 0.1, 0.1] * 24 + [0.1, 0.9, 0.1, 0.1],
        "poor": [0.9, 0.1, 0.9, 0.1] * 25,
    }

    def test_the_highest_kappa_is_best_and_others_may_be_as_good(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, self.SCORES)
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL] * 25)
        found = calibrated(run)
        assert found.best is found.scorers[0]
        assert [found.is_as_good(each) for each in found.scorers] == [False, True, False]

    def test_a_single_scorer_is_compared_with_none(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"good": self.SCORES["good"]})
        give_in_turn(run, people[0], [PASS, PASS, FAIL, FAIL])
        assert calibrated(run).best is None

    def test_scorers_against_people_are_not_the_best(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"a": [0.9, 0.1], "b": [0.9, 0.1]})
        give_in_turn(run, people[0], [FAIL, PASS])
        assert calibrated(run).best is None


class TestVersions:
    def test_a_version_counts_over_its_runs(
        self, version: DatasetVersion, people: list[User], team: Team
    ) -> None:
        first = scored_run(version, {"close": [0.9, 0.1]}, "first")
        second = scored_run(version, {"close": [0.9, 0.9]}, "second")
        scorer = Scorer.objects.get(team=team, name="close")
        scorer.revise({"case_sensitive": True}, by=None)
        third = scored_run(version, {"close": [0.9, 0.1]}, "third")
        unreviewed = scored_run(version, {"close": [0.9]}, "fourth")
        assert unreviewed.pk > third.pk
        for run in (first, second, third):
            give_in_turn(run, people[0], [PASS, FAIL])
        newer, older = calibrate_versions(scorer)
        assert (newer.version.number, newer.table, newer.run_count) == (2, (1, 0, 0, 1), 1)
        assert (older.version.number, older.table, older.run_count) == (1, (2, 1, 0, 1), 2)
        assert older.thresholds == [0.5]

    def test_an_output_of_two_runs_counts_once_as_the_newer_one_says(
        self, version: DatasetVersion, people: list[User], team: Team
    ) -> None:
        older, newer = (scored_run(version, {"close": [0.9]}, name) for name in ("a", "b"))
        Run.objects.filter(pk=newer.pk).update(output_set=older.output_set)
        outputs = outputs_of(older)
        scores = Score.objects.filter(scorer__run=newer).order_by("output")
        for score, output in zip(list(scores), outputs, strict=True):
            Score.objects.filter(pk=score.pk).update(output=output, score=0.1, verdict=1)
        give(people[0], {outputs[0]: FAIL})
        (found,) = calibrate_versions(Scorer.objects.get(team=team))
        assert (found.table, found.run_count) == ((0, 0, 0, 1), 2)

    def test_a_scorer_without_reviewed_runs_has_none(
        self, version: DatasetVersion, team: Team
    ) -> None:
        scored_run(version, {"close": [0.9]})
        assert calibrate_versions(Scorer.objects.get(team=team)) == []

    def test_only_the_newest_runs_are_read(
        self,
        version: DatasetVersion,
        people: list[User],
        team: Team,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(calibrations, "MAX_RUNS", 1)
        for name in ("a", "b"):
            give_in_turn(scored_run(version, {"close": [0.9]}, name), people[0], [PASS])
        (found,) = calibrate_versions(Scorer.objects.get(team=team))
        assert (found.run_count, found.table.n) == (1, 1)

    def test_runs_that_are_named_count_by_the_version_of_the_first(
        self, version: DatasetVersion, people: list[User], team: Team
    ) -> None:
        first = scored_run(version, {"close": [0.9, 0.1]}, "first")
        Scorer.objects.get(team=team).revise({"case_sensitive": True}, by=None)
        second, third = (scored_run(version, {"close": [0.9, 0.1]}, name) for name in ("b", "c"))
        named = [run.scorers.select_related("run", "version").get() for run in (third, first)]
        assert calibrate_runs(named) is None
        for run in (first, second, third):
            give_in_turn(run, people[0], [PASS, FAIL])
        found = calibrate_runs(named)
        assert found is not None
        assert (found.version.number, found.run_count, found.table) == (2, 1, (1, 0, 0, 1))
