"""Pairs of outputs: drawn where they differ, shown in a fixed random order, and counted."""

from __future__ import annotations

from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.review.pairwise import (
    CHOICES,
    OutputPair,
    find_counterpart,
    find_results,
    run_wins,
    series_wins,
    task_pair,
)
from scoring.engine.review.queues import QueueError, QueuePlan, create_queue, next_task
from scoring.models import (
    Dataset,
    Output,
    Preference,
    PreferenceVerdict,
    QueueOrder,
    ReviewQueue,
    Run,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = pytest.mark.django_db
BETTER, SAME, WORSE = PreferenceVerdict.BETTER, PreferenceVerdict.SAME, PreferenceVerdict.WORSE


class Runs:
    """Two runs over ten cases; the first three outputs are equal, failed, and of another input."""

    def __init__(self, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
        cases = [{"key": f"q{n}", "input": f"? {n}", "expected": "x"} for n in range(10)]
        first = make_dataset(cases)
        edited = [{**case, "input": "edited"} if n == 2 else case for n, case in enumerate(cases)]
        second = make_dataset(list(reversed(edited)))
        old = [f"old {n}" for n in range(10)]
        new = ["old 0", None, *[f"new {n}" for n in range(2, 10)]]
        self.old = finished_run(make_outputs(first, old, "gpt"), CLOSE, name="old")
        self.new = finished_run(make_outputs(second, list(reversed(new)), "llama"), CLOSE)

    def queue(self, *people: User, count: int = 100, seed: int = 7) -> ReviewQueue:
        plan = QueuePlan(
            "pairs",
            people,
            count,
            QueueOrder.RANDOM,
            reviewers_per_case=len(people),
            baseline=self.old,
            seed=seed,
        )
        return create_queue(self.new, plan, people[0])

    def pair(self, key: str) -> tuple[Output, Output]:
        of_new, of_old = (
            Output.objects.get(output_set=run.output_set, case__key=key)
            for run in (self.new, self.old)
        )
        return of_new, of_old

    def prefer(self, key: str, verdict: PreferenceVerdict, by: User) -> Preference:
        return Preference.objects.prefer(self.new, self.pair(key), verdict, by=by)


@pytest.fixture
def runs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Runs:
    return Runs(make_dataset, make_outputs)


def test_pairs_are_drawn_whose_outputs_differ_for_the_same_input(runs: Runs, rita: User) -> None:
    queue = runs.queue(rita)
    keys = {task.output.case.key for task in queue.tasks.all()}
    assert keys == {f"q{n}" for n in range(3, 10)}
    assert queue.is_pairwise
    assert not queue.is_random_sample  # its choices are no labels of the run
    some = runs.queue(rita, count=3)
    again = runs.queue(rita, count=3)
    order = [[task.output_id for task in each.tasks.order_by("position")] for each in (some, again)]
    assert order[0] == order[1]
    assert len(order[0]) == 3


def test_runs_with_the_same_outputs_have_no_pairs(runs: Runs, rita: User) -> None:
    plan = QueuePlan("pairs", [rita], 5, QueueOrder.RANDOM, baseline=runs.old)
    with pytest.raises(QueueError, match="no different outputs"):
        create_queue(runs.old, plan, rita)


def test_the_order_is_drawn_for_each_person_and_stays(runs: Runs, rita: User, sam: User) -> None:
    """From ten seeds: with one, two people may have the same order by chance."""
    queues = [runs.queue(rita, sam, seed=seed) for seed in range(10)]

    def swaps(person: User) -> list[list[bool]]:
        pairs = [
            [task_pair(queue, task) for task in queue.tasks.filter(reviewer=person)]
            for queue in queues
        ]
        return [[pair.is_swapped for pair in each if pair] for each in pairs]

    assert swaps(rita) == swaps(rita)
    assert swaps(rita) != swaps(sam)
    assert {swap for each in swaps(rita) for swap in each} == {True, False}


def test_a_choice_says_the_same_on_either_side() -> None:
    candidate, baseline = Output(text="new"), Output(text="old")
    for is_swapped, choice in product((False, True), CHOICES):
        pair = OutputPair(candidate, baseline, is_swapped)
        shown = {"left": pair.left, "right": pair.right, "same": None}[choice]
        expected = {"new": BETTER, "old": WORSE}[shown.text] if shown and shown.text else SAME
        assert pair.verdict_of(choice) == expected
        assert pair.choice_of(expected) == choice


def test_a_preference_does_the_task_and_clearing_it_opens_it_again(runs: Runs, rita: User) -> None:
    queue = runs.queue(rita)
    task = next_task(queue, rita)
    assert task is not None
    pair = task_pair(queue, task)
    assert pair is not None
    assert find_counterpart(task.output, runs.old) == pair.baseline
    outputs = (pair.candidate, pair.baseline)
    Preference.objects.prefer(runs.new, outputs, BETTER, by=rita)
    assert queue.tasks.get(done_at__isnull=False) == task
    later = runs.queue(rita, seed=8)  # what was compared before is done there
    assert later.tasks.get(done_at__isnull=False).output == task.output
    Preference.objects.clear(runs.new, outputs, by=rita)
    assert not queue.tasks.filter(done_at__isnull=False).exists()


def test_wins_count_pairs_and_series_count_both_directions(
    runs: Runs, rita: User, sam: User
) -> None:
    dataset = Dataset.objects.get()
    assert find_results(rita, runs.new, runs.old) is None
    runs.prefer("q3", BETTER, rita)
    runs.prefer("q3", BETTER, sam)
    runs.prefer("q4", BETTER, rita)
    runs.prefer("q4", WORSE, sam)
    runs.prefer("q5", WORSE, rita)
    assert run_wins(runs.new, runs.old) == (1, 1, 1, 5)
    new, old = runs.pair("q6")
    Preference.objects.prefer(runs.old, (old, new), WORSE, by=rita)  # the other way round
    assert run_wins(runs.new, runs.old) == (1, 1, 1, 5)
    assert series_wins(dataset, "llama", "gpt") == (2, 1, 1, 6)
    assert series_wins(dataset, "gpt", "llama") == (1, 1, 2, 6)
    assert series_wins(dataset, "gpt", "gpt").judgements == 0
    results = find_results(rita, runs.new, runs.old)
    assert results is not None
    assert results.series == (2, 1, 1, 6)


def test_results_are_hidden_from_whoever_still_compares(runs: Runs, rita: User, sam: User) -> None:
    runs.queue(rita)
    runs.prefer("q3", BETTER, sam)
    hidden = {
        person: results.is_hidden
        for person in (rita, sam)
        if (results := find_results(person, runs.new, runs.old))
    }
    assert hidden == {rita: True, sam: False}
    assert isinstance(runs.new, Run)


def test_what_was_compared_before_is_done_in_a_new_queue_by_one_update_a_person(
    runs: Runs, rita: User, sam: User
) -> None:
    first = runs.queue(rita, sam)
    tasks = list(first.tasks.filter(reviewer=rita))
    for task in tasks[1:]:
        pair = task_pair(first, task)
        assert pair is not None
        outputs = (pair.candidate, pair.baseline)
        Preference.objects.prefer(runs.new, outputs, BETTER, by=rita)
    with CaptureQueriesContext(connection) as queries:
        again = runs.queue(rita, sam)
    wanted = {task.output_id for task in tasks[1:]}
    done = again.tasks.exclude(done_at=None).values_list("output", "reviewer")
    assert set(done) == {
        (each, rita.pk)
        for each in wanted
        if again.tasks.filter(output=each, reviewer=rita).exists()
    }
    assert done
    updates = [query for query in queries if query["sql"].startswith("UPDATE")]
    assert len(updates) == 2  # one a person
