"""Full disks: a file of the system that behaves as one on such a disk, and one in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

FULL: Final = Path("/dev/full")  # every write to it finds no room
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


class SmallDisk:
    """A disk of its own, which lasts as long as the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill_up(self) -> None:
        """Leave room for a few pages of a table."""
        used = shutil.disk_usage(self.folder).used
        self._resize(f"{used // 1024 + 64}k")

    def make_room(self) -> None:
        self._resize("200m")

    def _resize(self, size: str) -> None:
        command = ["mount", "-o", f"remount,size={size}", self.folder]
        subprocess.run(command, check=True)


@contextmanager
def small_disk() -> Iterator[SmallDisk]:
    """One that anybody may look into. Skips the test where none may be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="evalsite-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", "size=200m,mode=755", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(command, check=False, stderr=-3).returncode:
        folder.rmdir()
        pytest.skip("a disk of its own can be mounted by root alone")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()
