"""Whole commands as a user runs them: from the command's start to its end.

    python benchmarks/commands.py [--cases 200 100000] [--characters 300] [--rounds 3]

`import` and `evaluate` are processes of their own on a folder that has a database: starting
Python, importing modules, planning and starting the pool's processes are part of it. Beside them
the bare Django prototype on the same file (`benchmarks/prototype.py`), round by round in turn;
"share" is the prototype's time over ours, goal 0.5.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rounds import (
    ROOT,
    SCORERS,
    Round,
    measure,
    others_cell,
    pairs,
    print_head,
    print_machine,
    print_row,
    seconds_cell,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[200, 100_000])
    parser.add_argument("--characters", type=int, default=300, help="of a text, in the median")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print_head("cases", "import, s", "evaluate, s", "both, s", "CPU s", "prototype, s",
               "prototype CPU s", "share", "other programs")  # fmt: skip
    for cases in arguments.cases:
        with tempfile.TemporaryDirectory() as folder:
            measure_size(Path(folder), cases, arguments)
    print_machine()


def measure_size(folder: Path, cases: int, arguments: argparse.Namespace) -> None:
    path = write_file(folder / "cases.jsonl", cases, arguments.characters)
    suite = write_suite(folder / "suite.json")
    manage(folder, "migrate", "--verbosity", "0")
    imports, runs, bare = [], [], []
    for number in range(arguments.rounds):
        name = f"round {number}"
        imports.append(measure(lambda name=name: manage(folder, "import", path, "--dataset", name)))
        runs.append(measure(lambda name=name: manage(folder, "evaluate", name, "--suite", suite)))
        bare.append(measure(lambda: python(folder, ROOT / "benchmarks" / "prototype.py", path)))
    both = [a.seconds + b.seconds for a, b in zip(imports, runs, strict=True)]
    print_row(
        f"{cases:,}",
        seconds_cell([each.seconds for each in imports]),
        seconds_cell([each.seconds for each in runs]),
        seconds_cell(both),
        seconds_cell([a.cpu + b.cpu for a, b in zip(imports, runs, strict=True)]),
        seconds_cell([each.seconds for each in bare]),
        seconds_cell([each.cpu for each in bare]),
        f"{share(both, bare):.2f}",
        others_cell([*imports, *runs, *bare]),
    )


def share(ours: list[float], bare: list[Round]) -> float:
    """The median over rounds, as two that follow each other find the machine alike."""
    return median(each.seconds / own for own, each in zip(ours, bare, strict=True))


def write_file(path: Path, cases: int, characters: int) -> Path:
    with path.open("w", encoding="utf-8") as stream:
        for number, (expected, output) in enumerate(pairs(cases, characters)):
            row = {"id": f"q{number}", "input": f"question {number}", "expected": expected}
            stream.write(json.dumps({**row, "output": output}) + "\n")
    return path


def write_suite(path: Path) -> Path:
    scorers = [{"name": name, "type": name, "config": config} for name, config in SCORERS]
    path.write_text(json.dumps({"name": "three", "scorers": scorers}))
    return path


def manage(folder: Path, *arguments: str | Path) -> None:
    python(folder, ROOT / "manage.py", *arguments)


def python(folder: Path, *arguments: str | Path) -> None:
    environment = {**os.environ, "EVALSITE_DATA_DIR": str(folder / "var")}
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, check=True, env=environment, capture_output=True)


if __name__ == "__main__":
    main()
