"""The demo shows what reviews are for: a calibrated sample, disagreements, and pairs."""

from __future__ import annotations

import random

import pytest

from scoring.engine.calibration.people import people_agreement
from scoring.engine.calibration.scorers import calibrate_run
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.reviews import (
    OWN_CASES,
    PAIRS,
    SAMPLE,
    WAITING,
    draw_own_queue,
    draw_queue_after_run,
)
from scoring.engine.demo.story import WEEKS
from scoring.engine.demo.support import SUPPORT
from scoring.engine.review.disagreements import Disagreements
from scoring.engine.review.informative_outputs import selected_outputs
from scoring.engine.review.pairwise import find_results, task_pair
from scoring.models import (
    AuditEntry,
    Member,
    Preference,
    QueueOrder,
    Review,
    ReviewQueue,
    Role,
    Run,
    RunScorer,
    TaskReason,
    Team,
    User,
)
from scoring.models.case_list.filters import NO_FILTERS


def last_run(series: str, weeks_ago: int = 0) -> Run:
    runs = Run.objects.filter(output_set__series=series).order_by("output_set__dated")
    assert runs.count() == WEEKS
    return runs[WEEKS - 1 - weeks_ago]


@pytest.fixture
def sampled(loaded: Team) -> Run:
    return last_run(QUESTIONS.series)


@pytest.fixture
def admin(loaded: Team, alice: User) -> User:
    Member.objects.create(team=loaded, user=alice, role=Role.ADMIN)
    return alice


def test_two_people_have_reviewed_a_random_sample(sampled: Run) -> None:
    queue = ReviewQueue.objects.get(run=sampled)
    assert queue.is_random_sample
    assert (queue.case_count, queue.reviewers_per_case) == (SAMPLE, 2)
    assert not queue.tasks.filter(done_at=None).exists()
    assert Review.objects.of_run(sampled).count() == 2 * SAMPLE
    assert {"wrong fact", "hedges"} <= set(sampled.team.failure_tags.values_list("name", flat=True))


def test_the_sample_is_what_its_seed_draws(sampled: Run) -> None:
    queue = ReviewQueue.objects.get(run=sampled)
    outputs = list(selected_outputs(sampled, NO_FILTERS))
    drawn = random.Random(queue.seed).sample(outputs, queue.case_count)
    tasks = queue.tasks.order_by("position").values_list("output", flat=True)
    assert list(dict.fromkeys(tasks)) == drawn


def test_its_calibration_has_something_to_show(sampled: Run) -> None:
    scorers = RunScorer.objects.filter(run=sampled).with_summary()
    calibration = calibrate_run(sampled, scorers)
    assert calibration.is_random
    by_name = {each.scorer.name: each for each in calibration.scorers}
    names = by_name["names the answer"]
    assert names.table.kappa is not None
    assert 0.8 < names.table.kappa.value < 1
    assert names.corrected is not None
    assert names.corrected.rate is not None
    assert names.corrected.rate.is_narrower
    hedges = by_name["does not hedge"].table
    assert hedges.only_scorer_passes > 5  # of which people say that they do hedge, or are wrong


def test_people_agree_with_each_other_but_not_always(sampled: Run) -> None:
    agreement = people_agreement(Review.objects.of_run(sampled))
    assert agreement.only_pair is not None
    assert agreement.only_pair.table.kappa is not None
    assert 0.4 < agreement.only_pair.table.kappa.value < 0.9


def test_two_disagreements_wait_for_a_third_person(sampled: Run, admin: User) -> None:
    disagreements = Disagreements(sampled, admin, Role.ADMIN)
    assert len(disagreements.open) == WAITING == 2
    assert len(disagreements.decided) >= 3


def test_half_of_the_pairs_are_compared(loaded: Team, admin: User) -> None:
    queue = ReviewQueue.objects.exclude(baseline=None).get()
    tasks = queue.tasks.order_by("position")
    assert [task.done_at is not None for task in tasks] == [True] * 10 + [False] * 10
    assert (queue.total, PAIRS) == (20, 20)
    results = find_results(admin, queue.run, queue.baseline)
    assert results is not None
    assert not results.is_hidden
    assert results.run.wins + results.run.ties + results.run.losses == 10
    for task in tasks[:10]:
        pair = task_pair(queue, task)
        assert pair is not None
        given = Preference.objects.get(candidate=pair.candidate, baseline=pair.baseline)
        assert given.is_swapped == pair.is_swapped


def test_the_administrator_gets_the_most_informative_cases(loaded: Team, admin: User) -> None:
    queue = draw_own_queue(loaded)
    assert queue is not None
    assert queue.name == "Support answers 2026-w44"
    assert (queue.order, queue.run) == (QueueOrder.VALUE, last_run(SUPPORT.series, 3))
    assert set(queue.tasks.values_list("reviewer", flat=True)) == {admin.pk}
    assert queue.tasks.count() == OWN_CASES
    reasons = queue.tasks.order_by("position").values_list("reason", flat=True)
    assert reasons[0] == TaskReason.DISAGREEING


def test_the_queue_is_drawn_once(loaded: Team, admin: User) -> None:
    draw_queue_after_run([last_run(SUPPORT.series)])
    assert ReviewQueue.objects.filter(order=QueueOrder.VALUE).count() == 1
    assert draw_own_queue(loaded) is None


def test_without_an_administrator_nobody_gets_it(loaded: Team) -> None:
    assert draw_own_queue(loaded) is None
    assert not ReviewQueue.objects.filter(order=QueueOrder.VALUE).exists()


def test_before_its_run_is_scored_there_is_no_queue(loaded: Team, admin: User) -> None:
    Run.objects.filter(pk=last_run(SUPPORT.series, 3).pk).update(state="scoring")
    assert draw_own_queue(loaded) is None


def test_other_runs_do_not_draw_it(loaded: Team, admin: User) -> None:
    draw_queue_after_run([last_run(QUESTIONS.series)])
    assert not ReviewQueue.objects.filter(order=QueueOrder.VALUE).exists()
    loaded.slug = "renamed"
    loaded.save()
    draw_queue_after_run([last_run(SUPPORT.series)])
    assert not ReviewQueue.objects.filter(order=QueueOrder.VALUE).exists()


def test_what_is_written_in_bulk_is_audited(loaded: Team) -> None:
    entries = {entry.action: entry.new for entry in AuditEntry.objects.order_by("pk")}
    assert entries["reviews.imported"] == {"created": 2 * SAMPLE}
    assert entries["preferences.imported"] == {"created": 10}
    assert AuditEntry.objects.filter(action="review_queue.created").count() == 2
