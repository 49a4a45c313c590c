"""Every benchmark still runs, on the least that it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.paths import ROOT
from tests.support.postgresql_server import find_programs

SMALLEST: Final = {
    "answers.py": "",
    "commands.py": "--cases 20 --characters 50 --rounds 1",
    "compare.py": "--size 300 --rounds 1",
    "comparison_claims.py": "--rounds 1",
    "drift.py": "--runs 3 --sizes 50 --rounds 1",
    "drift_alarms.py": "--rounds 1",
    "embed.py": "--texts 8 --rounds 1",
    "export.py": "--sizes 200 --characters 50 --rounds 1",
    "gate_power.py": "--rounds 2",
    "history.py": "--rounds 1",
    "import_rows.py": "--sizes 200 --characters 50 --rounds 1",
    "judge.py": "--calls 20 --concurrency 4 --latency 1 --rounds 1",
    "judged_run.py": "",
    "on_postgresql.py": "plans.py --size 300",
    "pages.py": "--size 300 --rounds 1",
    "peers.py": "--cases 20 --characters 50 --rounds 1",
    "report.py": "--size 300 --rounds 1",
    "run_cost.py": "--sizes 20 --characters 50 --rounds 1",
    "score_and_store.py": "--sizes 200 --characters 50 --rounds 1",
    "serving.py": "--people 2 --think 1 --seconds 2 --cases 200",
    "slow_clients.py": "--slow 2 --people 2 --think 1 --seconds 2",
    "start.py": "--rounds 1",
    "thresholds.py": "--size 300 --rounds 1",
    "whole_path.py": "--sizes 200 --characters 50 --rounds 1",
}
OTHERS: Final = {
    *("bare_view.py", "prototype.py", "rounds.py"),  # parts of the others
    *("many_workers.py", "plans.py", "rows_at_scale.py"),  # which the one for PostgreSQL runs
    *("limits.py", "tenants.py"),  # whose exit tells whether this machine is quick and quiet
    "fuzz_files.py",  # needs a package of its own, and looks for faults as long as one likes
}


def test_every_script_is_run_or_said_to_be_left_out() -> None:
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts == SMALLEST.keys() | OTHERS


@pytest.mark.slow
@pytest.mark.parametrize("script", SMALLEST)
def test_it_runs_and_prints_a_table(script: str, tmp_path: Path) -> None:
    if script == "on_postgresql.py" and find_programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    command = [sys.executable, ROOT / "benchmarks" / script, *SMALLEST[script].split()]
    environment = {**os.environ, "EVALSITE_DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n|") >= 2
