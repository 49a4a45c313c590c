"""`manage.py restore`: a refusal names the file; keys that are not in it are to be set by hand."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from scoring.engine.backups import BackupError
from scoring.engine.backups.archive import Manifest
from scoring.management.commands import restore


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (BackupError("it was cut off"), "b.tar was not restored: it was cut off"),
        (OSError(13, "Permission denied"), "b.tar was not restored: Permission denied"),
        (OSError("unknown"), "b.tar was not restored: unknown"),
    ],
)
def test_what_cannot_be_restored_is_one_line(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(restore, "restore_backup", refuse)
    with pytest.raises(CommandError) as raised:
        call_command("restore", "b.tar")
    assert (str(raised.value), raised.value.returncode) == (said, 2)


def test_keys_that_are_not_in_the_file_are_named(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    manifest = Manifest("2026-11-20", [], {}, keys_elsewhere=["secret_key"])
    monkeypatch.setattr(restore, "restore_backup", lambda *_, **__: manifest)
    call_command("restore", "b.tar", stdout=(out := io.StringIO()))
    assert out.getvalue().splitlines() == [
        "Set EVALSITE_SECRET_KEY as it was: it is not in the backup.",
        f"Restored the site of 2026-11-20 into {tmp_path}",
        "`manage.py start` upgrades and runs it.",
    ]
