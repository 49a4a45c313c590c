"""Room is kept aside on the disk, and given up when all other room is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.processes import disk_space
from scoring.engine.processes.disk_space import (
    FULL_BYTES,
    RESERVE,
    RESERVE_BYTES,
    is_out_of_space,
    release_reserve,
    watch_disk,
)


class Room:
    """How many bytes are free beside the reserve."""

    def __init__(self, reserve: Path) -> None:
        self.bytes, self._reserve = 10**9, reserve

    def free(self) -> int:
        return self.bytes - (RESERVE_BYTES if self._reserve.exists() else 0)


@pytest.fixture
def reserve(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / RESERVE


@pytest.fixture
def room(reserve: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    room = Room(reserve)
    monkeypatch.setattr(disk_space, "_free_bytes", room.free)
    return room


def test_room_is_kept_where_there_is_some(reserve: Path) -> None:
    assert not watch_disk()
    assert reserve.stat().st_size == RESERVE_BYTES
    assert reserve.stat().st_blocks * 512 >= RESERVE_BYTES  # it takes the room it promises
    assert reserve.stat().st_mode & 0o077 == 0
    assert not is_out_of_space()


def test_the_reserve_is_given_up_when_the_disk_is_full(reserve: Path, room: Room) -> None:
    watch_disk()
    room.bytes = RESERVE_BYTES + FULL_BYTES - 1
    assert is_out_of_space()
    assert watch_disk()
    assert not reserve.exists()
    assert is_out_of_space()


def test_the_disk_stays_full_until_there_is_room_for_reserve_and_work(
    reserve: Path, room: Room
) -> None:
    watch_disk()
    release_reserve()
    room.bytes = 2 * RESERVE_BYTES - 1
    assert watch_disk()
    assert is_out_of_space()
    assert not reserve.exists()
    room.bytes += 1
    assert not watch_disk()
    assert not is_out_of_space()
    assert reserve.exists()


def test_a_small_disk_with_its_reserve_is_not_full(room: Room) -> None:
    watch_disk()
    room.bytes = RESERVE_BYTES + FULL_BYTES
    assert not watch_disk()
    assert not is_out_of_space()


def test_a_reserve_that_cannot_be_filled_is_none(
    reserve: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_space.os, "posix_fallocate", refuse)
    watch_disk()
    assert not reserve.exists()


def test_systems_that_cannot_reserve_room_write_it(
    reserve: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(disk_space.os, "posix_fallocate")
    watch_disk()
    assert reserve.stat().st_size == RESERVE_BYTES


def test_releasing_twice_is_no_failure(reserve: Path) -> None:
    release_reserve()
    release_reserve()
    assert not reserve.exists()


def test_half_a_reserve_is_filled_up(reserve: Path) -> None:
    """As a process leaves it that was killed while it filled it."""
    reserve.write_bytes(b"x")
    assert not watch_disk()
    assert reserve.stat().st_size == RESERVE_BYTES
