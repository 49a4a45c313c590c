"""Files and folders that only their owner reads, whatever the umask."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


def open_private(path: Path, mode: str, *, exclusive: bool = False) -> IO[bytes]:
    """The file opened as `open(path, mode)` would, its owner's alone. Raises OSError."""
    extra = os.O_EXCL if exclusive else 0

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | extra, FILE_MODE)

    file = open(path, mode, opener=opener)  # noqa: SIM115  the caller closes it
    make_private(path)
    return file


def make_private(path: Path) -> None:
    """Remove all rights of others from a file or folder of this user.

    A folder that everybody may write into, such as /tmp, belongs to the system and is left alone.
    """
    with suppress(FileNotFoundError):
        status = path.stat()
        is_shared = bool(status.st_mode & stat.S_ISVTX)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid() and not is_shared:
            path.chmod(FOLDER_MODE if stat.S_ISDIR(status.st_mode) else FILE_MODE)
