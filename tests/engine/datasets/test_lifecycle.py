"""A dataset's name, its archiving, and its deletion with a way back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from scoring.engine import imports
from scoring.engine.datasets.lifecycle import (
    archive_dataset,
    delete_dataset,
    rename_dataset,
    restore_dataset,
    unarchive_dataset,
)
from scoring.engine.runs.lifecycle import delete_run
from scoring.engine.search import search
from scoring.engine.worker.main import clean_up
from scoring.models import (
    AlertRule,
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    OutputSet,
    Run,
    RunState,
    User,
)
from scoring.models.data.dataset import RETENTION
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.fixtures.uploads import Put

pytestmark = pytest.mark.django_db


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_new_name_is_kept_and_audited_once(make_dataset: MakeDataset, alice: User) -> None:
    dataset = make_dataset([{}], name="Answers").dataset
    rename_dataset(dataset, "Questions", alice)
    rename_dataset(dataset, "Questions", alice)
    assert Dataset.objects.get().name == "Questions"
    entry = AuditEntry.objects.get(action="dataset.renamed")
    assert (entry.old, entry.new) == ({"name": "Answers"}, {"name": "Questions"})


def test_a_taken_name_is_refused_and_changes_nothing(
    make_dataset: MakeDataset, alice: User
) -> None:
    dataset = make_dataset([{}], name="Answers").dataset
    make_dataset([{}], name="Questions")
    with pytest.raises(ValidationError, match="There is a dataset “Questions” already"):
        rename_dataset(dataset, "Questions", alice)
    assert dataset.name == Dataset.objects.get(pk=dataset.pk).name == "Answers"
    assert "dataset.renamed" not in actions()


def test_the_archive_takes_a_dataset_off_lists_until_it_is_back(
    make_dataset: MakeDataset, alice: User
) -> None:
    dataset = make_dataset([{}]).dataset
    for _ in range(2):
        archive_dataset(dataset, alice)
    assert not Dataset.objects.listed().exists()
    assert Dataset.objects.published().get() == dataset
    assert dataset.archived_at is not None
    unarchive_dataset(dataset, alice)
    assert Dataset.objects.listed().get() == dataset
    assert actions()[-2:] == ["dataset.archived", "dataset.unarchived"]


# Deletion.


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return run_with(make_dataset([{}, {}], name="Answers"), {"close": [1, 0]})


def dataset_of(run: Run) -> Dataset:
    return run.output_set.version.dataset


def define_rule(dataset: Dataset) -> AlertRule:
    wanted = {"kind": "pass_rate_below", "limit": 0.8}
    return AlertRule.objects.define(dataset.team, dataset, by=None, **wanted).rule


def test_a_deleted_dataset_is_hidden_with_its_runs_and_rules(run: Run, alice: User) -> None:
    dataset = dataset_of(run)
    define_rule(dataset)
    delete_dataset(dataset, alice)
    delete_dataset(dataset, alice)
    for model in (Dataset, Run, AlertRule):
        assert not model._default_manager.exists()
    assert not DatasetVersion.objects.visible_to(alice).exists()
    assert not OutputSet.objects.visible_to(alice).exists()
    assert search(dataset.team, "Answers").counts == []
    entry = AuditEntry.objects.get(action="dataset.deleted")
    assert entry.old == {"runs": 1, "alert_rules": 1}


def test_what_was_deleted_with_it_comes_back_and_nothing_else(run: Run, alice: User) -> None:
    dataset = dataset_of(run)
    rule = define_rule(dataset)
    before = run_with(run.output_set.version, {"close": [1, 1]}, name="before")
    delete_run(before, alice)
    delete_dataset(dataset, alice)
    assert not Run.with_deleted.deleted().exists()
    restore_dataset(dataset, alice)
    restore_dataset(dataset, alice)
    assert Dataset.objects.get() == dataset
    assert list(Run.objects.all()) == [run]
    assert list(AlertRule.objects.all()) == [rule]
    assert list(Run.with_deleted.deleted()) == [before]
    assert actions().count("dataset.restored") == 1


def test_the_name_is_free_and_a_taken_one_prevents_the_return(
    run: Run, make_dataset: MakeDataset, alice: User
) -> None:
    dataset = dataset_of(run)
    delete_dataset(dataset, alice)
    other = make_dataset([{}], name="Answers").dataset
    with pytest.raises(ValidationError, match="rename that one first"):
        restore_dataset(dataset, alice)
    rename_dataset(other, "Others", alice)
    restore_dataset(dataset, alice)
    assert Dataset.objects.count() == 2


def test_what_is_under_way_prevents_a_deletion(run: Run, put: Put, alice: User) -> None:
    dataset = dataset_of(run)
    Run.objects.update(state=RunState.RUNNING)
    with pytest.raises(ValidationError, match="A run of this dataset has not ended"):
        delete_dataset(dataset, alice)
    Run.objects.update(state=RunState.FINISHED)
    upload = put(b"id,input\n1,a\n", dataset=dataset)
    with pytest.raises(ValidationError, match="An upload into this dataset is open"):
        delete_dataset(dataset, alice)
    imports.cancel_upload(upload)
    delete_dataset(dataset, alice)
    assert not Dataset.objects.exists()


def test_after_a_week_nothing_is_left(run: Run, make_dataset: MakeDataset, alice: User) -> None:
    kept = make_dataset([{}], name="Kept").dataset
    dataset = dataset_of(run)
    delete_dataset(dataset, alice)
    clean_up()
    assert Dataset.with_deleted.count() == 2
    old = timezone.now() - RETENTION - timedelta(seconds=1)
    for model in (Dataset, Run):
        model.with_deleted.filter(deleted_at__isnull=False).update(deleted_at=old)
    assert not Dataset.with_deleted.deleted().exists()
    clean_up()
    assert list(Dataset.with_deleted.all()) == [kept]
    assert not Run.with_deleted.exists()
    assert not OutputSet.objects.exists()
    assert Case.objects.count() == 1
    assert "dataset.purged" in actions()
