"""An import is undone within a day, as long as nothing rests on what it added."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from scoring.core.contract import ConfigError
from scoring.engine import imports
from scoring.engine.imports import cleanup
from scoring.engine.runs.lifecycle import delete_run
from scoring.engine.runs.planning import create_run
from scoring.models import (
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    Draft,
    Output,
    OutputSet,
    Scorer,
    Upload,
    UploadKind,
    UploadState,
    User,
)
from tests.support.fixtures.uploads import Put, load
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db
FIRST = b"id,input,output\n1,a,x\n2,b,y\n"
SECOND = b"id,input\n1,a\n2,b\n3,c\n"


def undo(upload: Upload, by: User | None = None) -> Upload:
    imports.undo_import(upload, by)
    upload.refresh_from_db()
    return upload


def remove_hidden() -> None:
    """What the worker does, a minute later."""
    old = timezone.now() - timedelta(minutes=2)
    DatasetVersion.with_loading.update(created_at=old)
    OutputSet.objects.update(created_at=old)
    Dataset.objects.update(created_at=old)
    cleanup.remove_abandoned()


def test_a_first_import_leaves_nothing_behind(put: Put, alice: User) -> None:
    upload = load(put(FIRST))
    assert imports.can_undo(upload)
    assert undo(upload, alice).state == UploadState.UNDONE
    assert not DatasetVersion.objects.exists()
    assert not Dataset.objects.published().exists()
    remove_hidden()
    for model in (Dataset, OutputSet, Case, Output):
        assert not model._default_manager.exists()
    entry = AuditEntry.objects.get(action="import.undone")
    assert (entry.actor_id, entry.old) == (str(alice.pk), {"file": "cases.csv", "version": 1})


def test_the_version_before_is_the_latest_again_and_the_number_is_free(put: Put) -> None:
    first = load(put(FIRST))
    second = load(put(SECOND, dataset=first.dataset))
    undo(second)
    dataset = Dataset.objects.get()
    assert dataset.latest == first.version
    assert load(put(b"id,input\n9,z\n", dataset=dataset)).version.number == 2  # type: ignore[union-attr]
    remove_hidden()
    assert [version.number for version in dataset.versions.order_by("number")] == [1, 2]
    assert Case.objects.count() == 3
    assert OutputSet.objects.count() == 1


def test_outputs_alone_are_taken_back(put: Put) -> None:
    first = load(put(FIRST))
    more = {"kind": UploadKind.OUTPUTS, "dataset": first.dataset}
    outputs = load(put(b"id,output\n1,z\n", **more))
    undo(outputs)
    assert OutputSet.objects.ready().count() == 1
    remove_hidden()
    assert sorted(Output.objects.values_list("text", flat=True)) == ["x", "y"]
    assert imports.undoable_imports(Dataset.objects.get()) == [first]


def test_cases_that_were_there_already_stay(put: Put) -> None:
    first = load(put(b"id,input\n1,a\n"))
    again = load(put(b"id,input,output\n1,a,x\n", dataset=first.dataset))
    assert again.version == first.version
    undo(again)
    assert Dataset.objects.get().latest == first.version
    assert not OutputSet.objects.ready().exists()


def refused(upload: Upload) -> str:
    with pytest.raises(ValidationError) as caught:
        imports.undo_import(upload, None)
    upload.refresh_from_db()
    assert upload.state == UploadState.DONE
    return " ".join(caught.value.messages)


def test_what_a_run_scores_stays_also_when_the_run_is_deleted(put: Put) -> None:
    upload = load(put(FIRST))
    run = finished_run(OutputSet.objects.get())
    assert refused(upload) == "1 run scores the imported outputs, so they stay."
    delete_run(run, None)
    assert refused(upload) == "1 run scores the imported outputs, so they stay."
    assert imports.undoable_imports(Dataset.objects.get()) == []


def test_no_run_is_planned_over_outputs_that_were_taken_back(put: Put) -> None:
    """Somebody has the page of a new run open meanwhile."""
    upload = load(put(FIRST))
    outputs = OutputSet.objects.get()
    scorer = Scorer.objects.define(upload.team, "same", "exact_match", {})
    undo(upload)
    with pytest.raises(ConfigError, match="these outputs are no longer there"):
        create_run(outputs, scorers=[(scorer, 1.0)])


def test_a_version_that_others_build_on_stays(put: Put, alice: User) -> None:
    first = load(put(SECOND))
    second = load(put(FIRST, dataset=first.dataset))
    assert refused(first) == "Version 2 was made since, so version 1 stays."
    more = {"kind": UploadKind.OUTPUTS, "dataset": first.dataset}
    outputs = load(put(b"id,output\n1,z\n", **more))
    assert refused(second) == "Other outputs answer version 2, so it stays."
    undo(outputs)
    dataset = Dataset.objects.get()
    Draft.objects.create(dataset=dataset, based_on=dataset.latest, created_by=alice)
    assert refused(second) == "A draft or a correction is based on version 2, so it stays."


def test_after_a_day_and_a_second_time_it_is_too_late(put: Put) -> None:
    upload = load(put(FIRST))
    old = timezone.now() - timedelta(days=1, seconds=1)
    OutputSet.objects.update(created_at=old)
    DatasetVersion.objects.update(published_at=old)
    assert not imports.can_undo(upload)
    assert "over a day old" in refused(upload)
    DatasetVersion.objects.update(published_at=timezone.now())
    undo(upload)
    with pytest.raises(ValidationError, match="Nothing to undo"):
        imports.undo_import(upload, None)
