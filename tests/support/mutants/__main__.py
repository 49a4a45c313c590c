"""Tries every mutant in a copy of the checkout, and says which of them no test notices.

    python -m tests.support.mutants [AREA ...]

Exit code 1 if fewer than 90 % of the mutants are killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

import pytest

from tests.support.mutants.mutant import FOLDER, Mutant, read_mutants
from tests.support.paths import ROOT

WANTED: Final = 0.9
LIMIT_S: Final = 180  # a mutant that loops for ever is noticed, too
PROCESSES: Final = len(os.sched_getaffinity(0))
NOT_COPIED: Final = shutil.ignore_patterns(
    ".*_cache", "__pycache__", ".git", ".venv", ".hypothesis", "node_modules", "*.sqlite3*"
)


def is_killed(mutant: Mutant, checkout: Path) -> bool:
    """Whether one of its tests fails. Raises `RuntimeError` where there are none."""
    module = checkout / mutant.path
    source = module.read_text(encoding="utf-8")
    module.write_text(mutant.applied(source), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--numprocesses=0"),
        *("-p", "no:cacheprovider", "-m", "not browser", *mutant.tests),
    ]
    try:
        ended = subprocess.run(
            command, cwd=checkout, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        module.write_text(source, encoding="utf-8")
    if ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise RuntimeError(f"{mutant}: no tests in {', '.join(mutant.tests)}")
    return ended.returncode != pytest.ExitCode.OK


def survivors(mutants: list[Mutant]) -> list[Mutant]:
    """The mutants that no test notices; tells each as it is tried."""
    with tempfile.TemporaryDirectory(prefix="evalsite-mutants-") as folder:
        checkouts: SimpleQueue[Path] = SimpleQueue()
        for number in range(PROCESSES):
            checkout = Path(folder) / str(number)
            shutil.copytree(ROOT, checkout, ignore=NOT_COPIED)
            checkouts.put(checkout)

        def survives(mutant: Mutant) -> bool:
            checkout = checkouts.get()
            try:
                killed = is_killed(mutant, checkout)
            finally:
                checkouts.put(checkout)
            print("killed  " if killed else "SURVIVED", mutant, flush=True)
            return not killed

        with ThreadPoolExecutor(PROCESSES) as pool:
            survived = pool.map(survives, mutants)
            return [mutant for mutant, lives in zip(mutants, survived, strict=True) if lives]


def main() -> int:
    """Tries the mutants of the areas named on the command line, or all."""
    known = sorted(file.stem for file in FOLDER.glob("*.toml"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"some of {', '.join(known)}")
    areas = parser.parse_args().areas
    if unknown := sorted({*areas}.difference(known)):
        parser.error(f"no area {', '.join(unknown)}: there are {', '.join(known)}")
    mutants = list(read_mutants(tuple(areas)))
    alive = survivors(mutants)
    killed = len(mutants) - len(alive)
    print(f"\n{killed} of {len(mutants)} mutants killed ({killed / len(mutants):.1%})")
    for mutant in alive:
        print("survived:", mutant)
    return int(killed < WANTED * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
