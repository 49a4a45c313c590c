"""A full disk as a problem of the file that finds no room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scoring.core.disk_full import CODE, TEXT, is_disk_full
from scoring.core.files.rows import FileProblem


@contextmanager
def reporting_disk_full() -> Iterator[None]:
    """Raises FileProblem `disk_full` where there was no room."""
    try:
        yield
    except Exception as fault:
        if is_disk_full(fault):
            raise FileProblem(CODE, TEXT) from None
        raise
