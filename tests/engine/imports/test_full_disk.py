"""A disk that fills up while a file is received, checked or stored is told, and nothing is left."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import IO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from scoring.core.files import FileProblem, source
from scoring.engine import imports
from scoring.engine.imports import cleanup as import_cleanup
from scoring.engine.imports import upload_storage
from scoring.models import Dataset, DatasetVersion, Team, Upload, UploadState
from tests.support.fixtures.uploads import Put, assert_nothing_is_left, many
from tests.support.full_disk import FULL, needs_full
from tests.support.workbooks import simple

SAID = "There is no room left on the site's disk, so nothing was stored."


@pytest.fixture
def fill() -> Iterator[Callable[[], None]]:
    """Leaves the database hardly any room, until the test ends or says so."""
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite can be told how much room it has")

    def limit(pages: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA max_page_count = {pages}")

    def pragma(name: str) -> int:
        with connection.cursor() as cursor:
            return int(cursor.execute(f"PRAGMA {name}").fetchone()[0])

    def full() -> None:
        with connection.cursor() as cursor:  # what was deleted before has left room inside the file
            size = pragma("freelist_count") * pragma("page_size")
            cursor.execute("CREATE TABLE filler AS SELECT zeroblob(%s)", [size])
        limit(pragma("page_count") + 30)

    yield full
    limit(2**31)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS filler")


@needs_full
def test_a_file_that_finds_no_room_in_the_spool_is_not_received(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def redirected(path: Path, *how: int) -> int:
        place = opened(path, *how)
        os.dup2(opened(FULL, os.O_WRONLY), place)
        return place

    monkeypatch.setattr("scoring.engine.imports.upload_storage.os.open", redirected)
    with pytest.raises(FileProblem, match=SAID) as raised:
        put(many())
    assert raised.value.code == "disk_full"
    assert not Upload.objects.exists()
    assert_nothing_is_left(spooled)


def test_an_upload_that_the_database_has_no_room_for_is_not_received(
    put: Put, spooled: Path, fill: Callable[[], None]
) -> None:
    received: list[Upload] = []

    def until_full() -> None:
        while len(received) < 10_000:
            received.append(put(b"id,input\n1,a\n"))

    fill()
    with pytest.raises(FileProblem, match=SAID), transaction.atomic():
        until_full()
    assert {path.name for path in spooled.iterdir()} == {each.stored_name for each in received}


@needs_full
def test_a_packed_workbook_without_room_is_refused_at_once(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "TemporaryFile", lambda: FULL.open("r+b"))
    with pytest.raises(FileProblem, match=SAID):
        put(gzip.compress(simple(("id", "input"), ("1", "a"))), "cases.xlsx.gz")
    assert not Upload.objects.exists()
    assert_nothing_is_left(spooled)


@needs_full
def test_a_dry_run_without_room_says_so_and_can_be_made_again(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = put(gzip.compress(simple(("id", "input"), ("1", "a"))), "cases.xlsx.gz")
    assert imports.request_check(upload)

    def without_room() -> IO[bytes]:
        return FULL.open("r+b")

    with monkeypatch.context() as patched:
        patched.setattr(source, "TemporaryFile", without_room)
        imports.check_upload(upload)
    assert (upload.state, upload.problems[0]["code"]) == (UploadState.CHECKED, "disk_full")
    assert upload.report["is_readable"] is False
    assert imports.request_check(upload)
    imports.check_upload(upload)
    assert (upload.problems, upload.report["cases"]) == ([], 1)


def test_an_import_into_a_full_database_has_failed_and_says_why(
    put: Put, spooled: Path, fill: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be taken away for want of room is hidden, and goes with the next sweep."""
    upload = put(many())
    imports.request_load(upload)
    fill()
    imports.import_upload(upload)
    assert upload.state == UploadState.FAILED
    assert [each["code"] for each in upload.problems] == ["disk_full"]
    assert upload.problems[0]["message"].startswith(SAID)
    assert list(spooled.iterdir()) == []
    assert not DatasetVersion.objects.exists()
    assert not Dataset.objects.published().exists()
    monkeypatch.setattr(import_cleanup, "GRACE", timedelta(0))
    imports.remove_abandoned()
    assert_nothing_is_left(spooled)


def test_the_command_says_that_the_disk_is_full(
    team: Team, spooled: Path, tmp_path: Path, fill: Callable[[], None]
) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(many())
    fill()
    with pytest.raises(CommandError, match=f"^disk_full: {SAID}") as raised:
        call_command("import", str(path), "--dataset", "A", stdout=StringIO(), stderr=StringIO())
    assert raised.value.returncode == 2
    assert not DatasetVersion.objects.exists()
    assert list(spooled.iterdir()) == []


def test_another_fault_of_the_disk_stays_what_it_is(
    put: Put, spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(upload_storage, "_copy", broken)
    with pytest.raises(OSError, match="Input/output"):
        put(many(10))
    assert list(spooled.iterdir()) == []
