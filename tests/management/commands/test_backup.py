"""`manage.py backup`, and `manage.py restore` after it: what they did and what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from scoring.engine.backups.integrity import DATABASE, find_damage
from tests.support.paths import ROOT

pytestmark = pytest.mark.sqlite


def test_a_folder_without_a_site_is_named(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    with pytest.raises(CommandError, match="there is no site in"):
        call_command("backup", tmp_path / "b.tar")
    with pytest.raises(CommandError, match="No such file"):
        call_command("restore", tmp_path / "b.tar")


def test_commands_say_what_they_did_and_what_is_wrong(
    folder: Path, tmp_path: Path, unused: Path, settings: Settings
) -> None:
    def run(data_dir: Path, *words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *map(str, words)]
        environment = {**os.environ, "EVALSITE_DATA_DIR": str(data_dir)}
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )

    target = tmp_path / "b.tar.gz"
    done = run(folder, "backup", target)
    assert (done.returncode, done.stdout[:10]) == (0, "Backed up ")
    settings.DATA_DIR = folder
    with pytest.raises(CommandError, match="say --overwrite") as again:
        call_command("backup", target)
    assert run(unused, "restore", target).returncode == 0
    assert find_damage(unused / DATABASE) == ""
    twice = run(unused, "restore", target)
    assert (again.value.returncode, twice.returncode) == (2, 2)
    assert "is used already" in twice.stderr
    assert "Traceback" not in twice.stderr
