"""Which outputs blind review hides from a person: of a run, of two runs, of a queue to be made."""

from __future__ import annotations

import pytest

from evalsite.blind_review import (
    blind_outputs,
    blind_outputs_in_queue,
    blind_pairs,
    blind_task_for,
    has_blind_outputs,
)
from scoring.engine.review.carry_over import carry_over
from scoring.models import Output, OutputSet, Run, User
from scoring.models.case_list.change_filter import ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.pairs.rows import PairKind
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db
CASES = [{"key": key, "input": key, "expected": "x"} for key in "abc"]


@pytest.fixture
def baseline(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return finished_run(make_outputs(make_dataset(CASES), ["1", "2", "3"], "baseline"))


@pytest.fixture
def candidate(baseline: Run, make_outputs: MakeOutputs) -> Run:
    version = baseline.output_set.version
    return finished_run(make_outputs(version, ["4", "5", "6"], "candidate"))


def ids(run: Run, keys: str) -> set[int]:
    outputs = Output.objects.filter(output_set=run.output_set, case__key__in=keys)
    return set(outputs.values_list("pk", flat=True))


def test_the_outputs_of_open_tasks_are_blind_to_who_was_asked(
    baseline: Run, candidate: Run, alice: User, bob: User
) -> None:
    ask_to_review(candidate, alice, "b")
    assert has_blind_outputs(alice, candidate)
    assert blind_outputs(alice, candidate) == ids(candidate, "b")
    assert blind_outputs(alice, baseline) == set()
    assert not has_blind_outputs(bob, candidate)
    assert blind_outputs(bob, candidate) == set()


def test_a_pair_is_blind_where_either_output_is(
    baseline: Run, candidate: Run, alice: User, bob: User
) -> None:
    ask_to_review(baseline, alice, "a")
    ask_to_review(candidate, alice, "b")
    pairs = blind_pairs(alice, baseline, candidate)
    assert pairs.baseline == ids(baseline, "ab")
    assert pairs.candidate == ids(candidate, "ab")
    assert pairs.own == ids(candidate, "b")
    assert pairs.outputs == pairs.baseline | pairs.candidate
    assert blind_pairs(bob, baseline, candidate).outputs == set()


def test_of_a_case_with_trials_each_is_blind_where_one_is(
    baseline: Run, candidate: Run, alice: User
) -> None:
    """The verdict of the case tells of each of them."""
    version = candidate.output_set.version
    tried = run_with(version, {"close": [1] * 6}, trials=2)
    ask_to_review(tried, alice, "b", trial=1)
    assert len(blind_outputs(alice, tried)) == 1
    for pairs in (blind_pairs(alice, baseline, tried), blind_pairs(alice, tried, baseline)):
        assert pairs.outputs == ids(baseline, "b") | ids(tried, "b")
    assert blind_pairs(alice, baseline, tried).own == blind_outputs(alice, tried)


def test_a_queue_of_changed_cases_leaves_out_blind_pairs(
    baseline: Run, candidate: Run, alice: User, bob: User
) -> None:
    ask_to_review(baseline, alice, "a")
    ask_to_review(candidate, alice, "b")
    change = CaseFilters(change=ChangeFilter(PairKind.BROKE, baseline))
    assert blind_outputs_in_queue(alice, candidate, change) == ids(candidate, "ab")
    assert blind_outputs_in_queue(bob, candidate, change) == set()


def test_the_task_for_an_output_is_also_that_of_its_copies(
    baseline: Run, make_dataset: MakeDataset, alice: User, bob: User
) -> None:
    version = make_dataset([case | {"expected": "y"} for case in CASES])
    copy = carry_over(baseline.output_set, version, alice)
    task = ask_to_review(baseline, alice, "b")

    def outputs(output_set: OutputSet, key: str) -> list[Output]:
        rows = Output.objects.select_related("case", "output_set__version")
        return list(rows.filter(output_set=output_set, case__key=key))

    for output_set in (baseline.output_set, copy):
        assert blind_task_for(alice, outputs(output_set, "b")) == task
        assert blind_task_for(alice, outputs(output_set, "a")) is None
        assert blind_task_for(bob, outputs(output_set, "b")) is None
