"""Corrected pass rates: which reviews of a random sample count, and how many more it takes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.core.stats.calibration import VerdictTable
from scoring.engine.calibration.sample import CorrectedPassRate, calibrate_sample
from scoring.engine.calibration.scorers import RunCalibration, calibrate_run
from scoring.engine.review.review_state import read_review_state
from scoring.models import (
    Adjudication,
    DatasetVersion,
    Output,
    Review,
    ReviewTask,
    ReviewVerdict,
    Run,
    User,
)
from tests.support.reviewed_runs import draw_sample, give, outputs_of, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


def calibrated(run: Run) -> RunCalibration:
    return calibrate_run(run, run.scorers.with_summary())


def sampled(run: Run) -> dict[int, CorrectedPassRate]:
    return calibrate_sample(run, run.scorers.with_summary(), read_review_state(run))


class TestRandomSample:
    """120 outputs are drawn; people pass 2 of 3 and the scorer half of all."""

    @pytest.fixture
    def run(self, version: DatasetVersion) -> Run:
        return scored_run(version, {"close": [0.9, 0.1, 0.9, 0.1, 0.9, 0.1] * 33 + [0.9, 0.1]})

    VERDICTS = (PASS, PASS, PASS, FAIL, PASS, FAIL) * 20

    def test_only_labels_of_the_sample_enter(self, run: Run, people: list[User]) -> None:
        outputs = outputs_of(run)
        give(people[0], dict(zip(outputs[:120], self.VERDICTS, strict=True)))
        draw_sample(outputs[:120])
        assert calibrated(run).is_random
        (before,) = calibrated(run).scorers
        give(people[0], dict.fromkeys(outputs[120:], FAIL))  # picked by a queue's value
        assert not calibrated(run).is_random
        (after,) = calibrated(run).scorers
        assert before.corrected == after.corrected
        assert after.corrected is not None
        assert after.corrected.labelled == (60, 0, 20, 40)
        assert after.corrected.others == (40, 40)
        assert after.corrected.rate is not None
        assert after.corrected.rate.value == pytest.approx(2 / 3, abs=0.01)

    def test_labels_that_nobody_drew_give_no_rate(self, run: Run, people: list[User]) -> None:
        give(people[0], dict(zip(outputs_of(run)[:120], self.VERDICTS, strict=True)))
        found = calibrated(run)
        assert found.scorers[0].corrected is None
        assert not found.is_random
        assert sampled(run) == {}

    def test_without_any_label_there_is_no_sample(self, run: Run) -> None:
        assert not calibrated(run).is_random

    def test_labels_that_are_lacking_are_counted(self, run: Run, people: list[User]) -> None:
        outputs = outputs_of(run)
        draw_sample(outputs[:120])
        give(people[0], dict(zip(outputs[:30], self.VERDICTS, strict=False)))
        found = calibrated(run)
        corrected = found.scorers[0].corrected
        assert corrected is not None
        assert (corrected.rate, corrected.lacking, corrected.more) == (None, 20, None)
        assert found.sample_reviewed == 30

    def test_errors_are_no_outputs_to_correct(
        self, version: DatasetVersion, people: list[User]
    ) -> None:
        run = scored_run(version, {"close": [*[0.9] * 60, *[0.1] * 100, "error"]})
        draw_sample(outputs_of(run)[:80])
        give(people[0], dict.fromkeys(outputs_of(run)[:80], PASS))
        corrected = calibrated(run).scorers[0].corrected
        assert corrected is not None
        assert (corrected.labelled, corrected.others) == ((60, 0, 20, 0), (0, 80))

    def test_how_many_more_labels_it_takes(self, run: Run, people: list[User]) -> None:
        outputs = outputs_of(run)
        draw_sample(outputs[:120])
        give(people[0], dict(zip(outputs[:120], self.VERDICTS, strict=True)))
        found = sampled(run)[run.scorers.get().pk]
        assert found.rate is not None
        assert found.rate.width > 0.1
        assert found.more is None  # 200 outputs are too few for ± 5 points

    def test_what_the_database_counts_follows_every_change(
        self, run: Run, people: list[User], alice: User
    ) -> None:
        outputs = outputs_of(run)
        draw_sample(outputs[:120])
        first, second, third, fourth = Output.objects.filter(pk__in=outputs[:4]).order_by("pk")

        def counted() -> VerdictTable:
            (scorer,) = calibrated(run).scorers
            (found,) = sampled(run).values()
            assert found == scorer.corrected
            return found.labelled

        assert counted().n == 0
        give(people[0], dict(zip(outputs[:120], self.VERDICTS, strict=True)))
        before = counted()
        assert before.n == 120
        verdict = Review.objects.get(output=first).verdict
        Review.objects.record(run, first, UNSURE, by=people[0])
        assert counted().n == 119
        Review.objects.withdraw(run, second, by=people[0])
        assert counted().n == 0  # the first is unsure, and what follows the second is out of turn
        for output, given in ((first, verdict), (second, self.VERDICTS[1])):
            Review.objects.record(run, output, ReviewVerdict(given), by=people[0])
        assert counted() == before
        said = Adjudication.objects.decide(run, third, BAD_CASE, by=alice, note="", seen=0)
        assert counted().n == 119
        Adjudication.objects.clear(run, third, by=alice, seen=said.revision)
        assert counted() == before
        Review.objects.filter(output=fourth).delete()
        long_ago = timezone.now() - timedelta(days=900)
        Review.objects.create(
            output=fourth, reviewer=people[1], verdict=BAD_CASE, changed_at=long_ago
        )
        assert counted().n == 119
        draw_sample(outputs[120:])
        give(people[1], dict.fromkeys(outputs[120:130], PASS))
        assert counted().n == 129

    def test_labels_count_up_to_the_first_output_that_nobody_has_reviewed(
        self, run: Run, people: list[User]
    ) -> None:
        """Those beyond are of another queue or a file, or come after a case that was skipped."""
        outputs = outputs_of(run)
        draw_sample(outputs[:120])
        give(people[0], dict.fromkeys(outputs[:3], PASS) | dict.fromkeys(outputs[4:120], FAIL))
        found = calibrated(run)
        (scorer,) = found.scorers
        assert scorer.corrected is not None
        assert (scorer.corrected.labelled.n, scorer.corrected.rate) == (3, None)
        assert (found.is_random, found.sample_reviewed, found.out_of_turn) == (False, 119, 116)
        give(people[1], {outputs[3]: UNSURE})
        found = calibrated(run)
        corrected = found.scorers[0].corrected
        assert corrected is not None
        assert (corrected.labelled.n, found.is_random, found.out_of_turn) == (119, True, 0)

    def test_each_reviewer_has_a_turn_of_their_own(self, run: Run, people: list[User]) -> None:
        outputs = outputs_of(run)
        draw_sample(outputs[:10])
        ReviewTask.objects.filter(output__in=outputs[1:10:2]).update(reviewer=people[1])
        give(people[0], dict.fromkeys(outputs[2:10:2], PASS) | dict.fromkeys(outputs[1:6:2], PASS))
        assert calibrated(run).sample == set(outputs[1:6:2])
        give(people[0], {outputs[0]: PASS})
        assert calibrated(run).sample == {*outputs[:10:2], *outputs[1:6:2]}

    def test_what_people_cannot_judge_is_left_out_of_the_sample(
        self, run: Run, people: list[User]
    ) -> None:
        outputs = outputs_of(run)
        draw_sample(outputs[:60])
        verdicts = [*self.VERDICTS[:58], UNSURE, BAD_CASE]
        give(people[0], dict(zip(outputs[:60], verdicts, strict=True)))
        corrected = calibrated(run).scorers[0].corrected
        assert corrected is not None
        assert corrected.labelled.n == 58
