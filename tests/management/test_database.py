"""What commands make of a folder without a database, and of one that is older than the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.migrations.recorder import MigrationRecorder

from scoring.engine.upgrades import INITIAL
from scoring.management import database
from scoring.management.database import check_database
from tests.support.paths import ROOT

#: Runs a command as manage.py does, then tells on standard error what it need not have loaded.
LOADED = """
import atexit, runpy, sys
heavy = {"django.contrib.admin", "django_stubs_ext", "rest_framework", "allauth", "evalsite.urls",
         "scoring.admin", "scoring.engine.alerts", "scoring.engine.drift", "scoring.engine.imports",
         "numpy", "scipy", "tqdm", "openai", "torch"}
atexit.register(lambda: print("loaded", *sorted(heavy & set(sys.modules)), file=sys.stderr))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(
    folder: Path, *arguments: str, code: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *code, str(ROOT / "manage.py"), *arguments]
    environment = {**os.environ, "EVALSITE_DATA_DIR": str(folder)}
    del environment["DJANGO_SETTINGS_MODULE"]  # the tests' own
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "cases.jsonl"
    path.write_text('{"id": "a", "input": "?", "expected": "yes", "output": "yes"}\n')
    suite = {"name": "three", "scorers": [{"name": "exact", "type": "exact_match"}]}
    path.with_name("suite.json").write_text(json.dumps(suite))
    return path


@pytest.mark.long("two commands in processes of their own, and every migration")
def test_import_and_evaluate_set_a_new_folder_up(tmp_path: Path, cases: Path) -> None:
    imported = run(tmp_path, "import", str(cases), "--dataset", "A")
    assert (imported.returncode, imported.stdout.count("A v1")) == (0, 1), imported.stderr
    assert imported.stderr.startswith(f"set up a new database in {tmp_path} (")
    assert "made the team default, as there was none" in imported.stdout
    suite = str(cases.with_name("suite.json"))
    scored = run(tmp_path, "evaluate", "A", "--suite", suite, "--json", code=("-c", LOADED))
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["state"] == "finished"
    assert scored.stderr.split("loaded")[-1].split() == []
    assert "set up" not in scored.stderr


def test_evaluate_sets_a_new_folder_up_and_misses_the_dataset(tmp_path: Path) -> None:
    done = run(tmp_path, "evaluate", "A")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("set up a new database in")
    assert second == "CommandError: the team default has no dataset 'A'"


@pytest.mark.parametrize(
    "arguments", [("drift", "A"), ("compare", "A", "a", "b"), ("export", "--dataset", "A")]
)
def test_other_commands_say_that_there_is_no_database(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = run(tmp_path, *arguments)
    text = f"there is no database in {tmp_path} yet; `manage.py migrate` sets it up"
    assert (done.returncode, done.stderr) == (2, f"CommandError: {text}\n")
    assert not list(tmp_path.glob("*.sqlite3"))


@pytest.mark.django_db
def test_a_database_older_than_the_code_is_told() -> None:
    check_database()
    with (
        patch.object(database, "known_migrations", lambda: {INITIAL, "0002_next"}),
        pytest.raises(CommandError, match="older than this code") as caught,
    ):
        call_command("evaluate", "A")
    assert caught.value.returncode == 2


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["evaluate A", "migrate", "start --port 0"])
@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({"0001_initial", "0002_model_calls"}, "too old to be upgraded: export its datasets"),
        ({INITIAL, "9999_later"}, r"of a newer Evalsite \(9999_later\): use that version"),
    ],
)
def test_a_database_that_cannot_be_upgraded_is_refused(
    command: str, names: set[str], text: str
) -> None:
    rows = MigrationRecorder.Migration.objects
    rows.filter(app="scoring").delete()
    rows.bulk_create(MigrationRecorder.Migration(app="scoring", name=name) for name in names)
    with pytest.raises(CommandError, match=text) as caught:
        call_command(*command.split())
    assert caught.value.returncode == 2
