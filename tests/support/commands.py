"""Commands of `manage.py`, called in this process."""

from __future__ import annotations

from io import StringIO

from django.core.management import CommandError, call_command


def call(*words: str) -> tuple[int, str]:
    """The exit code and what was printed, or the error."""
    out = StringIO()
    try:
        call_command(*words, stdout=out)
    except CommandError as fault:
        return fault.returncode, str(fault)
    return 0, out.getvalue()
