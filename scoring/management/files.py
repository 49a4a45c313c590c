"""Files that commands print, or write whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from django.core.management.base import OutputWrapper

from scoring.management.console import usage_error


def print_file(out: OutputWrapper, chunks: Iterable[bytes]) -> None:
    """Print a file in UTF-8; a reader who has seen enough is no error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        for chunk in chunks:
            out.write(chunk.decode(), ending="")
        out.flush()
    except BrokenPipeError:  # what Python still flushes at exit must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write to a temporary file that then replaces the target: nobody reads half of it."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise usage_error(f"{path} is no file, so it cannot be replaced")
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        with part.open("xb") as out:
            out.writelines(chunks)
        part.replace(target)
    except OSError as fault:
        raise usage_error(f"{path} cannot be written: {fault.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink()
