"""Uploaded files of several machines: a shared folder, and storage like S3."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from pytest_django.fixtures import Settings

from scoring.core.files import FileProblem
from scoring.engine import imports
from scoring.engine.imports import shared_storage, upload_storage
from scoring.engine.imports.shared_storage import StorageUnreachableError
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.worker import upload_runner
from scoring.engine.worker.upload_runner import UploadRunner
from scoring.models import Upload, UploadState
from tests.support.fixtures.storages import SharedStorage, s3_server, shared
from tests.support.fixtures.uploads import Put, cases_of, check, load_unchecked, put, spooled

__all__ = ["put", "s3_server", "shared", "spooled"]

pytestmark = pytest.mark.django_db

ROWS = b"id,input\n1,a\n2,b\n"


@pytest.fixture
def elsewhere(settings: Settings, spooled: Path, tmp_path: Path) -> Path:
    """The spool of another machine, once `go_to` was called with it."""
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere"


def kept() -> list[str]:
    return shared_storage.names_older_than(-60)


def test_a_file_is_read_on_any_machine_and_then_nowhere_left(
    shared: SharedStorage, put: Put, settings: Settings, spooled: Path, elsewhere: Path
) -> None:
    upload = put(ROWS)
    assert kept() == [upload.stored_name]
    settings.SPOOL_DIR = elsewhere
    assert len(imports.preview_upload(upload).rows) == 2
    load_unchecked(check(upload))
    assert upload.state == UploadState.DONE
    assert [case.input for case in cases_of(upload.version)] == ["a", "b"]
    assert (kept(), list(elsewhere.iterdir())) == ([], [])
    settings.SPOOL_DIR = spooled
    assert [path.name for path in spooled.iterdir()] == [upload.stored_name]
    second = put(ROWS)  # the machine that received it may have no worker
    third = put(ROWS)
    left = {path.name for path in spooled.iterdir()}
    assert left == {second.stored_name, third.stored_name}


def test_a_copy_is_the_owners_alone_and_fetched_once(
    shared: SharedStorage, put: Put, settings: Settings, elsewhere: Path
) -> None:
    upload = put(ROWS)
    settings.SPOOL_DIR = elsewhere
    path = imports.fetch_file(upload)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (ROWS, 0o600)
    shared.disappear()
    assert imports.fetch_file(upload) == path
    assert list(elsewhere.iterdir()) == [path]


def test_a_copy_that_breaks_off_leaves_nothing(
    shared: SharedStorage,
    put: Put,
    settings: Settings,
    elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def break_off(_: object, target: io.BufferedWriter) -> None:
        target.write(ROWS[:5])
        raise ConnectionResetError("reset by peer")

    upload = put(ROWS)
    settings.SPOOL_DIR = elsewhere
    monkeypatch.setattr(shared_storage.shutil, "copyfileobj", break_off)
    with pytest.raises(StorageUnreachableError):
        imports.fetch_file(upload)
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(
    put: Put, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is where a share is to be mounted."""
    backend = "django.core.files.storage.FileSystemStorage"
    storage = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path / "mount" / "evals")}}
    settings.STORAGES = {**settings.STORAGES, "uploads": storage}
    with pytest.raises(StorageUnreachableError):
        put(ROWS)
    assert f"the folder of uploaded files is not there: {tmp_path}/mount/evals" in caplog.text
    assert not (tmp_path / "mount").exists()


def test_what_cannot_be_kept_is_no_upload(
    shared: SharedStorage, put: Put, spooled: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shared.disappear()
    with pytest.raises(FileProblem) as raised:
        put(ROWS)
    assert raised.value.code == "storage_unreachable"
    assert ("cannot be used" if shared.server else "is not there") in caplog.text
    assert not Upload.objects.exists()
    assert list(spooled.iterdir()) == []


def test_the_worker_waits_for_a_storage_out_of_reach(
    shared: SharedStorage,
    put: Put,
    settings: Settings,
    elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(upload_runner.time, "monotonic", lambda: now[0])
    upload = put(ROWS)
    assert imports.request_check(upload)
    settings.SPOOL_DIR, here = elsewhere, settings.SPOOL_DIR
    shared.disappear()
    runner = UploadRunner(InlineExecutor(), lambda: None)
    for _ in range(20):
        runner.step()
    assert not runner.is_due
    upload.refresh_from_db()
    assert (upload.state, upload.lease_owner) == (UploadState.CHECKING, "")
    assert imports.stage_of(upload) == "waiting for the storage of files"
    shared.come_back()
    if shared.server:
        shared_storage.keep(here / upload.stored_name)
    runner.step()
    upload.refresh_from_db()
    assert upload.state == UploadState.CHECKING  # it is left alone for a while
    now[0] += upload_runner.LEAVE_SECONDS
    assert runner.is_due
    runner.step()
    upload.refresh_from_db()
    assert (upload.state, upload.problems, upload.report["rows"]) == (UploadState.CHECKED, [], 2)


def test_a_file_that_somebody_removed_is_gone(
    shared: SharedStorage, put: Put, settings: Settings, elsewhere: Path
) -> None:
    upload = put(ROWS)
    assert imports.request_check(upload)
    storages["uploads"].delete(upload.stored_name)
    settings.SPOOL_DIR = elsewhere
    upload_runner.process_upload(upload.pk)
    upload.refresh_from_db()
    assert [problem["code"] for problem in upload.problems] == ["file_gone"]


def test_a_cancelled_upload_leaves_no_file(shared: SharedStorage, put: Put) -> None:
    upload = put(ROWS)
    assert imports.cancel_upload(upload)
    assert kept() == []
    second = put(ROWS)
    shared.disappear()
    assert imports.cancel_upload(second)  # its file is removed with the next cleaning


def test_cleaning_removes_what_no_open_upload_needs(
    shared: SharedStorage, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_storage, "_FORGOTTEN_SECONDS", -60)
    needed, ended = put(ROWS), put(ROWS)
    Upload.objects.filter(pk=ended.pk).update(state=UploadState.FAILED)
    storage: Any = storages["uploads"]
    for name in (f"{'0' * 32}.rows", "somebody's.rows"):
        storage.save(name, io.BytesIO(ROWS))
    imports.remove_abandoned()
    assert sorted(storage.listdir("")[1]) == sorted([needed.stored_name, "somebody's.rows"])


def test_a_file_that_goes_while_they_are_listed_is_none_of_them(
    shared: SharedStorage, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_one, gone = put(ROWS), put(ROWS)
    storage: Any = storages["uploads"]
    listed = storage.listdir("")
    storage.delete(gone.stored_name)
    monkeypatch.setattr(storage, "listdir", lambda _: listed)
    assert kept() == [kept_one.stored_name]


def test_what_may_still_be_stored_is_not_cleaned(shared: SharedStorage, put: Put) -> None:
    storages["uploads"].save(f"{'0' * 32}.rows", io.BytesIO(ROWS))
    imports.remove_abandoned()
    assert kept() == [f"{'0' * 32}.rows"]


def test_the_fault_comes_back_from_a_process() -> None:
    fault = pickle.loads(pickle.dumps(StorageUnreachableError()))
    assert (type(fault), fault.code) == (StorageUnreachableError, "storage_unreachable")
