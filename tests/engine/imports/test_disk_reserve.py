"""The room that an import keeps aside while it stores rows, and has free to take them away."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pytest

from scoring.engine import imports
from scoring.engine.imports import cleanup as import_cleanup
from scoring.engine.imports import disk_reserve, writer
from scoring.models import UploadState
from tests.support.fixtures.uploads import Put, assert_nothing_is_left, load_unchecked, many

pytestmark = [
    pytest.mark.sqlite,  # which alone needs room to delete
    pytest.mark.skipif(
        not hasattr(os, "posix_fallocate"), reason="only some systems can keep some"
    ),
]


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> list[IO[bytes]]:
    """The files that were opened to keep room."""
    opened: list[IO[bytes]] = []

    def noted(**how: Any) -> IO[bytes]:
        opened.append(TemporaryFile(**how))  # noqa: SIM115  whoever asked closes it
        return opened[-1]

    monkeypatch.setattr(disk_reserve, "TemporaryFile", noted)
    return opened


def seen_by(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, look: Callable[[], object]
) -> list[object]:
    """What is seen each time when the function is called, which still does what it does."""
    seen: list[object] = []
    real = getattr(place, name)

    def looked(*args: Any, **more: Any) -> Any:
        seen.append(look())
        return real(*args, **more)

    monkeypatch.setattr(place, name, looked)
    return seen


def test_room_is_kept_while_rows_are_stored_under_no_name(
    put: Put, spooled: Path, aside: list[IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept() -> tuple[int, int]:
        return os.fstat(aside[0].fileno()).st_blocks * 512, len(list(spooled.iterdir()))

    seen = seen_by(monkeypatch, writer, "write_rows", kept)
    upload = load_unchecked(put(many()))
    assert upload.state == UploadState.DONE
    (at_most,) = seen
    assert isinstance(at_most, tuple)
    assert at_most[0] >= disk_reserve.RESERVE_BYTES
    assert at_most[1] == 1  # the upload's own file
    assert [file.closed for file in aside] == [True]


def test_the_room_is_free_when_rows_are_taken_away(
    put: Put, spooled: Path, aside: list[IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = put(many())
    imports.request_load(upload)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer, "publish_import", full)
    seen = seen_by(monkeypatch, import_cleanup, "remove_version", lambda: aside[0].closed)
    imports.import_upload(upload)
    assert seen == [True]
    assert [each["code"] for each in upload.problems] == ["disk_full"]
    assert_nothing_is_left(spooled)


@pytest.fixture
def without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk_reserve.os, "posix_fallocate", refused)


@pytest.mark.usefixtures("without_room")
def test_an_import_without_room_to_clean_up_is_not_begun(put: Put, spooled: Path) -> None:
    upload = load_unchecked(put(many()))
    assert upload.state == UploadState.FAILED
    assert [each["code"] for each in upload.problems] == ["disk_full"]
    assert_nothing_is_left(spooled)
