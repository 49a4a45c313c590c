"""What a killed process leaves, and what the sweep must not touch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from scoring.engine import imports
from scoring.engine.drafts.case_copy import store_copies
from scoring.engine.imports import cleanup
from scoring.engine.imports.case_writer import CaseWriter, insert_outputs
from scoring.engine.imports.cleanup import LOADING_JOBS
from scoring.engine.imports.report import ImportReport
from scoring.engine.jobs import lease
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Output,
    OutputSet,
    Run,
    Team,
    Upload,
    UploadState,
    VersionState,
)
from scoring.models.locks import lock_row
from tests.support.concurrency import SECONDS, call_all_at_once
from tests.support.fixtures.uploads import Put, assert_nothing_is_left, load_unchecked, many


def left_over(team: Team, name: str = "Left") -> DatasetVersion:
    """What a process that was killed in the middle of an import leaves behind."""
    dataset = Dataset.objects.create(team=team, name=name)
    version = DatasetVersion.with_loading.create(dataset=dataset)
    case = Case.objects.create(version=version, position=1, key="1", input_json='"a"')
    output_set = OutputSet.objects.create(version=version, series="s")
    Output.objects.create(output_set=output_set, case=case, text="t")
    long_ago = timezone.now() - timedelta(minutes=5)
    Dataset.objects.update(created_at=long_ago)
    DatasetVersion.with_loading.update(created_at=long_ago)
    OutputSet.objects.update(created_at=long_ago)
    return version


def test_the_sweep_removes_what_nobody_works_on(team: Team, spooled: Path) -> None:
    left_over(team)
    imports.remove_abandoned()
    assert_nothing_is_left(spooled)


def test_the_sweep_leaves_alone_what_is_young_or_ready(team: Team, version: DatasetVersion) -> None:
    left = left_over(team)
    DatasetVersion.with_loading.filter(pk=left.pk).update(created_at=timezone.now())
    OutputSet.objects.update(created_at=timezone.now())
    imports.remove_abandoned()
    assert DatasetVersion.with_loading.count() == 2
    assert Output.objects.count() == 1


@pytest.mark.parametrize(
    ("holder", "ends_in_seconds", "is_kept"),
    [
        ("elsewhere:1", 20, True),
        ("elsewhere:1", -1, False),
        (f"{lease.own_name().rpartition(':')[0]}:999999999", 20, False),
    ],
)
def test_the_sweep_asks_whether_the_holder_lives(
    team: Team, put: Put, holder: str, ends_in_seconds: int, is_kept: bool
) -> None:
    left = left_over(team)
    Upload.objects.filter(pk=put(b"id,input\n1,a\n").pk).update(
        state=UploadState.LOADING,
        dataset=left.dataset,
        lease_owner=holder,
        lease_expires_at=timezone.now() + timedelta(seconds=ends_in_seconds),
    )
    imports.remove_abandoned()
    assert DatasetVersion.with_loading.filter(pk=left.pk).exists() == is_kept
    assert Output.objects.exists() == is_kept
    assert Dataset.objects.filter(pk=left.dataset.pk).exists()  # the upload is tried again


def test_the_sweep_leaves_a_run_that_waits_for_outputs(team: Team, version: DatasetVersion) -> None:
    waiting = OutputSet.objects.create(version=version, series="api")
    abandoned = OutputSet.objects.create(version=version, series="left")
    OutputSet.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    Run.objects.create(team=team, output_set=waiting, name="waits")
    imports.remove_abandoned()
    assert list(OutputSet.objects.all()) == [waiting]
    assert abandoned not in OutputSet.objects.all()


def test_the_sweep_removes_files_that_no_upload_needs(put: Put, spooled: Path) -> None:
    needed, ended = put(b"id,input\n1,a\n"), put(b"id,input\n1,b\n")
    Upload.objects.filter(pk=ended.pk).update(state=UploadState.FAILED)
    young = spooled / "being received"
    young.touch()
    imports.remove_abandoned()
    assert {path.name for path in spooled.iterdir()} == {needed.stored_name, young.name}


def test_an_upload_nobody_maps_is_given_up_after_a_day(put: Put, spooled: Path) -> None:
    upload = put(b"id,input\n1,a\n")
    Upload.objects.update(created_at=timezone.now() - timedelta(days=2))
    imports.remove_abandoned()
    upload.refresh_from_db()
    assert upload.state == UploadState.CANCELLED
    assert not list(spooled.iterdir())


def test_an_import_tried_again_after_a_crash_is_whole(team: Team, put: Put) -> None:
    load_unchecked(put(many(300), dataset=left_over(team).dataset))
    imports.remove_abandoned()
    version = DatasetVersion.with_loading.get()
    assert (version.state, version.case_count) == (VersionState.READY, 300)
    assert Case.objects.count() == 300


@pytest.mark.parametrize("kind", LOADING_JOBS)
@pytest.mark.parametrize("state", JobState)
def test_the_sweep_leaves_alone_what_a_job_loads(
    team: Team, kind: JobKind, state: JobState
) -> None:
    left = left_over(team)
    request = {"dataset": str(left.dataset.uuid)}
    Job.objects.create(team=team, kind=kind, request=request, state=state)
    imports.remove_abandoned()
    is_kept = state in {JobState.WAITING, JobState.WORKING}
    assert DatasetVersion.with_loading.filter(pk=left.pk).exists() == is_kept
    assert Output.objects.exists() == is_kept


def test_a_version_that_was_removed_meanwhile_is_not_published(
    team: Team, version: DatasetVersion
) -> None:
    removed = DatasetVersion.with_loading.create(dataset=version.dataset)
    DatasetVersion.with_loading.filter(pk=removed.pk).delete()
    with pytest.raises(DatabaseError):
        removed.publish(content_hash="", case_count=12_000)
    assert Dataset.objects.get(pk=version.dataset_id).latest == version
    assert DatasetVersion.with_loading.count() == 1


@pytest.mark.parametrize(
    "store",
    [
        lambda version, _: CaseWriter(ImportReport(), version).take([]),
        lambda version, _: store_copies(version, [("k", '"a"', None, "[]", "{}", "[]")]),
        lambda _, output_set: insert_outputs([], {"output": output_set}, {}),
    ],
)
def test_nothing_is_stored_into_what_was_removed_meanwhile(
    team: Team, store: Callable[[DatasetVersion, OutputSet], object]
) -> None:
    version = left_over(team)
    output_set = version.output_sets.get()
    imports.remove_abandoned()
    with pytest.raises(ObjectDoesNotExist):
        store(version, output_set)
    assert not Case.objects.exists()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_removal_waits_for_rows_under_way_and_takes_them_along(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite two transactions are never under way at once."""
    version = left_over(team)
    is_stored, is_removed = Event(), Event()
    delete = cleanup._delete_with_late_rows

    def store() -> None:
        with transaction.atomic():
            lock_row(version, "state")
            Case.objects.create(version=version, position=2, key="2", input_json='"b"')
            is_stored.set()
            is_removed.wait(SECONDS)

    def delete_and_tell(parents: QuerySet[Any]) -> None:
        delete(parents)
        if parents.model is DatasetVersion:
            is_removed.set()

    def remove() -> None:
        is_stored.wait(SECONDS)
        imports.remove_abandoned()

    monkeypatch.setattr(cleanup, "_delete_with_late_rows", delete_and_tell)
    call_all_at_once([store, remove])
    assert not Case.objects.exists()
    assert not DatasetVersion.with_loading.exists()
