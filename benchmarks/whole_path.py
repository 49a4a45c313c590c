"""From a file to stored scores and their summary: cases per second, on a fresh SQLite file.

    python benchmarks/whole_path.py [--sizes 1000 10000 100000] [--million] [--rounds 3]
                                    [--characters 100 300]

Timed: reading, mapping, storing and publishing the file's cases and outputs, then making and
planning the run, starting the pool's processes, scoring with three deterministic scorers, storing
and summarising. Medians of the rounds, the quickest in brackets. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rounds import (
    Round,
    cpu_cell,
    make_suite,
    measure,
    new_site,
    others_cell,
    pairs,
    print_head,
    print_machine,
    print_row,
    rate_cell,
)


class Halves(NamedTuple):
    """Importing and scoring, and the most memory of a process in MB."""

    importing: Round
    scoring: Round
    peak: float

    @property
    def whole(self) -> Round:
        one, two = self.importing, self.scoring
        others = max(one.others, two.others)
        return Round(one.seconds + two.seconds, one.cpu + two.cpu, others)


def main() -> None:
    arguments = parse()
    with new_site() as folder:
        suite = make_suite()
        print_head("characters", "cases", "cases/s", "import s", "score s", "CPU µs a case",
                   "peak RSS of a process, MB", "other programs")  # fmt: skip
        for characters in arguments.characters:
            for size in arguments.sizes + [1_000_000] * arguments.million:
                measure_size(folder, size, characters, suite, arguments)
        print_machine()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="a file of 1,000,000 cases, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--characters", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def measure_size(
    folder: Path, size: int, characters: int, suite: Any, arguments: argparse.Namespace
) -> None:
    count = 1 if size > 100_000 else arguments.rounds
    rounds = [
        one_round(write_file(folder, size, seed, characters), suite, arguments.processes)
        for seed in range(1, count + 1)
    ]
    whole = [each.whole for each in rounds]
    print_row(
        characters,
        f"{size:,}",
        rate_cell(size, whole),
        f"{median(each.importing.seconds for each in rounds):.2f}",
        f"{median(each.scoring.seconds for each in rounds):.2f}",
        cpu_cell(size, whole),
        f"{max(each.peak for each in rounds):.0f}",
        others_cell(whole),
    )


def write_file(folder: Path, size: int, seed: int, characters: int = 100) -> Path:
    """JSON Lines of cases with an output each; a third of the outputs equals what is expected."""
    path = folder / f"cases-{characters}-{size}-{seed}.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number, (expected, output) in enumerate(pairs(size, characters, seed)):
            row = {"id": f"q{number}", "input": f"question {number}", "expected": expected}
            stream.write(json.dumps({**row, "output": output}) + "\n")
    return path


def one_round(path: Path, suite: Any, processes: int) -> Halves:
    from scoring.engine import imports
    from scoring.engine.processes.process_pool import ProcessPool
    from scoring.models import Team

    loaded: list[Any] = []
    importing = measure(
        lambda: loaded.append(imports.import_file(Team.objects.get(), path, path.stem))
    )
    with ProcessPool(processes) as pool:
        scoring = measure(lambda: score(loaded[0].output_set, suite, pool))
        peak = max(peak_megabytes(pool))
    path.unlink()
    return Halves(importing, scoring, peak)


def score(outputs: Any, suite: Any, pool: Any) -> None:
    from scoring.engine.runs import planning
    from scoring.engine.worker.run_dispatcher import run_to_end

    run = planning.create_run(outputs, suite=suite)
    run_to_end(run, pool)
    if run.state != "finished" or run.error_count:
        raise SystemExit(f"the run is {run.state} with {run.error_count} errors")


def peak_megabytes(pool: Any) -> list[float]:
    """Of this process and of every pool process."""
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    for pid in pool.process_ids():
        status = Path(f"/proc/{pid}/status").read_text()
        peaks += [int(line.split()[1]) / 1024 for line in status.splitlines() if "VmHWM" in line]
    return peaks


if __name__ == "__main__":
    main()
