"""Outputs over another version: by key, where the input is the same; each field is kept."""

from __future__ import annotations

import pytest

from scoring.engine.review import carry_over as module
from scoring.engine.review.carry_over import (
    CarryOverError,
    affected_runs,
    carry_over,
    find_carried,
)
from scoring.models import AuditEntry, Dataset, DatasetVersion, Output, OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.concurrency import call_at_once, wait_for_all
from tests.support.run_states import CLOSE, finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def old(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """Outputs for the cases a, b and c; the second one failed, the third one costs something."""
    cases = [{"key": key, "input": key, "expected": "x"} for key in "abc"]
    outputs = make_outputs(make_dataset(cases), ["1", None, "3"], "gpt")
    fields = {"cost_usd": 0.5, "tokens_out": 7, "is_json": True}
    Output.objects.filter(case__key="c").update(**fields)
    outputs.labels = {"commit": "ab12"}
    outputs.save()
    return outputs


@pytest.fixture
def new(old: OutputSet, make_dataset: MakeDataset) -> DatasetVersion:
    """In another order, with another expected value of a, another input of b, and a case d."""
    return make_dataset(
        [
            {"key": "d", "input": "d", "expected": "x"},
            {"key": "c", "input": "c", "expected": "x"},
            {"key": "b", "input": "other", "expected": "x"},
            {"key": "a", "input": "a", "expected": "y"},
        ]
    )


def test_outputs_go_along_where_the_case_asks_the_same(
    old: OutputSet, new: DatasetVersion, alice: User
) -> None:
    made = carry_over(old, new, alice)
    columns = ("case__key", "case__version", "text", "is_json", "cost_usd", "tokens_out")
    assert set(made.outputs.values_list(*columns)) == {
        ("a", new.pk, "1", False, None, None),
        ("c", new.pk, "3", True, 0.5, 7),
    }
    assert (made.output_count, made.copied_from) == (2, old)
    assert (made.series, made.dated, made.labels) == (old.series, old.dated, old.labels)
    assert old.outputs.count() == 3
    assert carry_over(old, new, alice) == made
    assert carry_over(old, old.version, alice) == old


def test_nothing_is_left_where_no_case_asks_the_same(
    old: OutputSet, make_dataset: MakeDataset, alice: User
) -> None:
    other = make_dataset([{"key": "a", "input": "other"}])
    with pytest.raises(CarryOverError, match="has the same input"):
        carry_over(old, other, alice)
    assert list(OutputSet.objects.all()) == [old]
    assert Output.objects.count() == 3


def test_what_was_carried_over_is_found_and_progress_is_reported(
    old: OutputSet, new: DatasetVersion, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_carried(old, new) is None
    assert find_carried(old, old.version) == old
    monkeypatch.setattr(module, "_PER_QUERY", 2)
    shares: list[float] = []
    made = carry_over(old, new, alice, shares.append)
    assert shares == [0.5, 1.0]
    assert find_carried(old, new) == made


def test_runs_over_older_versions_are_listed_with_those_of_their_outputs_over_the_latest(
    old: OutputSet, new: DatasetVersion, alice: User
) -> None:
    before = finished_run(old, CLOSE, name="before")
    dataset = Dataset.objects.get()
    assert affected_runs(dataset, 5) == [(before, [])]
    after = finished_run(carry_over(old, new, alice), CLOSE, name="after")
    (affected,) = affected_runs(dataset, 5)
    assert affected.rescored == [after]
    assert isinstance(affected.run, Run)


@pytest.mark.django_db(transaction=True)
def test_two_who_carry_the_same_over_at_once_get_the_same(
    old: OutputSet, new: DatasetVersion, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_copy_outputs", wait_for_all(module._copy_outputs, 2))
    outputs = iter([OutputSet.objects.get(pk=old.pk) for _ in range(2)])
    made = call_at_once(lambda: carry_over(next(outputs), new, alice), 2)
    assert made[0] == made[1] == OutputSet.objects.get(version=new)
    assert AuditEntry.objects.filter(action="output_set.created").count() == 1
