"""Blind outputs: those of open tasks, and the same ones in other versions of the dataset."""

from __future__ import annotations

import pytest

from scoring.engine.review.blind_outputs import (
    find_blind_cases,
    find_outputs,
    find_related_sets,
    list_outputs,
)
from scoring.engine.review.carry_over import carry_over
from scoring.models import Output, OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.reviewed_runs import ask_to_review
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db
CASES = [{"key": key, "input": key, "expected": "x"} for key in "abc"]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return finished_run(make_outputs(make_dataset(CASES), ["1", "2", "3"]))


@pytest.fixture
def sets(run: Run, make_dataset: MakeDataset, alice: User) -> list[OutputSet]:
    """The run's outputs, a copy, a copy of that, and another copy of the first ones."""
    second, third = (
        make_dataset([case | {"expected": value} for case in CASES]) for value in ("y", "z")
    )
    copy = carry_over(run.output_set, second, alice)
    return [
        run.output_set,
        copy,
        carry_over(copy, third, alice),
        carry_over(run.output_set, third, alice),
    ]


def ids(sets: list[OutputSet], key: str) -> set[int]:
    outputs = Output.objects.filter(output_set__in=sets, case__key=key)
    return set(outputs.values_list("pk", flat=True))


def test_copies_of_copies_are_the_same_outputs(
    sets: list[OutputSet], make_outputs: MakeOutputs
) -> None:
    make_outputs(sets[0].version, ["4", "5", "6"], "other")
    related = find_related_sets(sets[0].version.dataset_id)
    family = {each.pk for each in sets}
    assert {pk: set(others) for pk, others in related.items()} == dict.fromkeys(family, family)


@pytest.mark.parametrize("asked", range(4))
def test_the_same_output_is_blind_in_every_version(
    sets: list[OutputSet], alice: User, bob: User, asked: int
) -> None:
    dataset = sets[0].version.dataset_id
    ask_to_review(finished_run(sets[asked]), alice, "b")
    blind = find_blind_cases(alice, dataset)
    assert {pk: set(cases) for pk, cases in blind.items()} == {each.pk: {("b", 0)} for each in sets}
    assert list_outputs(blind) == ids(sets, "b")
    assert len(ids(sets, "b")) == 4
    assert find_blind_cases(bob, dataset) == {}


def test_queries(
    sets: list[OutputSet], run: Run, alice: User, django_assert_num_queries: object
) -> None:
    dataset = run.output_set.version.dataset_id
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert list_outputs(find_blind_cases(alice, dataset)) == frozenset()
    for key in "abc":
        ask_to_review(run, alice, key)
    with django_assert_num_queries(3):  # type: ignore[operator]
        assert len(list_outputs(find_blind_cases(alice, dataset))) == 12
    with django_assert_num_queries(2):  # type: ignore[operator]
        blind = find_blind_cases(alice, dataset)
        assert len(list_outputs({run.output_set_id: blind[run.output_set_id]})) == 3


def test_a_trial_is_one_output(run: Run, make_outputs: MakeOutputs) -> None:
    own = run.output_set_id
    first = Output.objects.get(output_set=own, case__key="a")
    Output.objects.create(output_set=run.output_set, case=first.case, trial=1, text="again")
    assert find_outputs({own: {("a", 0), ("b", 1)}}) == {first.pk}
