from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import DraftError
from scoring.models import AuditEntry, Case, Dataset, DatasetVersion, User
from tests.conftest import MakeDataset
from tests.engine.drafts.conftest import contents


@pytest.fixture
def hundred(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"k{n}", "input": n} for n in range(1, 101)], name="Hundred")


def test_the_same_seed_draws_the_same_cases(hundred: DatasetVersion) -> None:
    cases = Case.objects.filter(version=hundred)
    first = drafts.sample_positions(cases, 10, seed=7)
    assert first == drafts.sample_positions(cases, 10, seed=7) == sorted(set(first))
    assert len(first) == 10
    assert first != drafts.sample_positions(cases, 10, seed=8)


def test_every_case_may_be_drawn(hundred: DatasetVersion) -> None:
    cases = Case.objects.filter(version=hundred)
    drawn = {place for seed in range(200) for place in drafts.sample_positions(cases, 10, seed)}
    assert drawn == set(range(1, 101))


def test_no_more_than_there_are(hundred: DatasetVersion) -> None:
    some = Case.objects.filter(version=hundred, position__lte=3)
    assert drafts.sample_positions(some, 10, seed=1) == [1, 2, 3]


def test_a_part_becomes_a_dataset_with_the_same_keys(version: DatasetVersion, alice: User) -> None:
    made = drafts.split_dataset(version, [3, 1], "Part", "part of Answers v1", alice)
    part = made.latest
    assert part is not None
    assert (part.number, part.source_name, part.case_count) == (1, "part of Answers v1", 2)
    whole = contents(version)
    assert contents(part) == {"q1": whole["q1"], "q3": whole["q3"]}
    entry = AuditEntry.objects.get(action="dataset.created")
    assert entry.new == {"version": 1, "cases": 2, "from": "part of Answers v1"}


def test_a_name_that_is_taken_is_refused(version: DatasetVersion, alice: User) -> None:
    with pytest.raises(DraftError, match="called “Answers” already"):
        drafts.split_dataset(version, [1], "Answers", "part", alice)
    assert Dataset.objects.count() == 1


def test_no_case_is_no_dataset(version: DatasetVersion, alice: User) -> None:
    with pytest.raises(DraftError, match="No case"):
        drafts.split_dataset(version, [], "Part", "part", alice)


def test_a_failure_leaves_no_dataset(
    version: DatasetVersion, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("scoring.engine.drafts.case_copy.bulk_insert", full)
    with pytest.raises(OSError, match="disk full"):
        drafts.split_dataset(version, [1], "Part", "part", alice)
    assert [dataset.name for dataset in Dataset.objects.all()] == ["Answers"]
