"""An upload from its mapping to its end."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError
from django.utils import timezone

from scoring.core.files import FileProblem
from scoring.engine import imports
from scoring.engine.imports import upload_storage
from scoring.engine.jobs import lease
from scoring.models import Case, Dataset, DatasetVersion, Upload, UploadState
from tests.support.fixtures.uploads import (
    AtEachBeat,
    Put,
    assert_nothing_is_left,
    cases_of,
    load,
    many,
)


def test_text_of_another_encoding_is_refused_until_it_is_chosen(put: Put) -> None:
    content = "id,input\n1,café\n".encode("cp1252")
    for look in (imports.preview_upload, imports.request_check):
        with pytest.raises(FileProblem) as raised:
            look(put(content))
        assert raised.value.code == "encoding"
        assert "cp1252" in raised.value.text
    assert load(put(content), encoding="cp1252").state == UploadState.DONE


def test_a_chosen_encoding_and_delimiter_are_kept_for_the_import(put: Put) -> None:
    upload = put("id|input\n1|café, “x”\n".encode("cp1252"))
    load(upload, encoding="cp1252", delimiter="|")
    assert upload.detected["encoding"] == "cp1252"
    assert [case.input for case in cases_of(upload.version)] == ["café, “x”"]


def test_a_chosen_mapping_is_kept_for_the_import(put: Put) -> None:
    upload = put(b"q,a,n\nx,y,z\n")
    load(upload, {"input": ["a"], "expected": ["n"]})
    (case,) = cases_of(upload.version)
    assert (case.input, case.expected, case.metadata) == ("y", "z", {"q": "x"})


def test_a_mapping_to_a_column_that_is_not_there_is_refused(put: Put) -> None:
    upload = put(b"id,input\n1,a\n")
    with pytest.raises(FileProblem) as raised:
        imports.request_check(upload, {"expected": ["inputs"]})
    assert raised.value.code == "missing_column"
    assert "Did you mean input" in raised.value.text
    upload.refresh_from_db()
    assert upload.state == UploadState.RECEIVED


def test_a_cancel_before_the_import_removes_the_file(put: Put, spooled: Path) -> None:
    upload = put(b"id,input\n1,a\n")
    imports.request_load(upload)
    assert Dataset.objects.filter(latest=None).exists()
    assert imports.cancel_upload(upload)
    assert upload.state == UploadState.CANCELLED
    assert not imports.cancel_upload(upload)
    assert not imports.request_load(upload)
    assert_nothing_is_left(spooled)


@pytest.mark.parametrize("step", ["check_upload", "import_upload"])
def test_a_cancel_is_honoured_between_batches(
    put: Put, spooled: Path, at_each_beat: AtEachBeat, step: str
) -> None:
    upload = put(many())
    imports.request_load(upload) if step == "import_upload" else imports.request_check(upload)
    lease.acquire(upload)
    seen: list[int] = []

    def cancel() -> None:
        seen.append(Case.objects.count())
        imports.cancel_upload(Upload.objects.get(pk=upload.pk))

    at_each_beat(cancel)
    getattr(imports, step)(upload)
    upload.refresh_from_db()
    assert seen == [5_000 if step == "import_upload" else 0]
    assert upload.state == UploadState.CANCELLED
    assert_nothing_is_left(spooled)


def test_a_lost_hold_ends_the_work_and_leaves_the_upload_to_its_new_holder(
    put: Put, at_each_beat: AtEachBeat
) -> None:
    upload = put(many())
    imports.request_load(upload)
    lease.acquire(upload)
    others = Upload.objects.filter(pk=upload.pk)
    at_each_beat(lambda: others.update(lease_owner="another:1"))
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.lease_owner) == (UploadState.LOADING, "another:1")
    assert upload_storage.upload_path(upload).exists()
    assert not Case.objects.exists()
    assert not DatasetVersion.with_loading.exists()


def test_progress_is_noted_and_the_hold_renewed(put: Put, at_each_beat: AtEachBeat) -> None:
    upload = put(many())
    imports.request_load(upload)
    lease.acquire(upload)
    seen: list[int] = []
    ran_out = timezone.now() - timedelta(seconds=1)

    def look() -> None:
        seen.append(Upload.objects.get(pk=upload.pk).row_count)
        Upload.objects.filter(pk=upload.pk).update(lease_expires_at=ran_out)

    at_each_beat(look)
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert seen == [0, 5_000, 10_000, 12_000]
    assert (upload.row_count, upload.lease_owner, upload.lease_expires_at) == (12_000, "", None)


def test_an_upload_whose_database_is_lost_can_be_read_again(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = put(many(200))
    imports.request_load(upload)

    def lost(*_: object) -> None:
        raise OperationalError("server closed the connection") from psycopg.OperationalError()

    with monkeypatch.context() as patched:
        patched.setattr("scoring.engine.imports.case_writer.bulk_insert", lost)
        with pytest.raises(OperationalError):
            imports.import_upload(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.problems) == (UploadState.LOADING, [])
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.row_count) == (UploadState.DONE, 200)


def test_a_database_that_cannot_store_fails_the_upload_and_keeps_nothing(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = put(many(200))
    imports.request_load(upload)

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("scoring.engine.imports.case_writer.bulk_insert", broken)
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.problems[0]["code"]) == (UploadState.FAILED, "store_failed")
    assert_nothing_is_left(spooled)


def test_a_file_that_is_gone_fails_the_upload(put: Put, spooled: Path) -> None:
    upload = put(many(10))
    imports.request_load(upload)
    upload_storage.upload_path(upload).unlink()
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.problems[0]["code"]) == (UploadState.FAILED, "file_gone")
    assert_nothing_is_left(spooled)
