"""From a file to stored scores and their summary: cases per second, on a fresh SQLite file.

    python benchmarks/whole_path.py [--sizes 1000 10000 100000] [--million] [--rounds 3]

Timed: reading, mapping, storing and publishing the file's cases and outputs, then planning,
scoring with three deterministic scorers, storing and summarising; the pool's processes are
already started. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

TEXT = """
    the refund was issued on Monday and reached your account within three working days after we had
    cancelled the order that arrived damaged please send us a photo of it
"""


class Round(NamedTuple):
    """Seconds of the two halves."""

    importing: float
    scoring: float


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments, Path(folder))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="a file of 1,000,000 cases, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def measure(arguments: argparse.Namespace, folder: Path) -> None:
    from scoring.engine.pool import Pool

    suite = make_suite()
    print("| cases | cases/s | import s | score s | µs per case | peak RSS per process, MB |")
    print("|---:|---:|---:|---:|---:|---|")
    with Pool(arguments.processes) as pool:
        one_round(write_file(folder, 5_000, 0), suite, pool)  # starts the processes
        for size in arguments.sizes + [1_000_000] * arguments.million:
            count = 1 if size > 100_000 else arguments.rounds
            rounds = [
                one_round(write_file(folder, size, seed), suite, pool)
                for seed in range(1, count + 1)
            ]
            best = min(rounds, key=sum)
            peaks = ", ".join(f"{peak:.0f}" for peak in peak_megabytes(pool))
            print(
                f"| {size:,} | {size / sum(best):,.0f} | {best.importing:.2f} | "
                f"{best.scoring:.2f} | {1e6 * sum(best) / size:.1f} | {peaks} |",
                flush=True,
            )


def make_suite() -> Any:
    from scoring.models import Scorer, Suite, Team

    team = Team.objects.create(name="Benchmark", slug="benchmark")
    types: list[tuple[str, dict[str, Any]]] = [
        ("exact_match", {}),
        ("includes", {"values": ["refund"]}),
        ("levenshtein", {}),
    ]
    scorers = [Scorer.objects.define(team, name, name, config) for name, config in types]
    return Suite.objects.define(team, "three", [(scorer, None) for scorer in scorers])


def write_file(folder: Path, size: int, seed: int) -> Path:
    """JSON Lines of cases with an output each; a third of the outputs equals what is expected."""
    path = folder / f"cases-{size}-{seed}.jsonl"
    chance = random.Random(seed)
    vocabulary = TEXT.split()
    with path.open("w", encoding="utf-8") as stream:
        for place in range(size):
            expected = chance.choices(vocabulary, k=18)
            words = list(expected)
            if chance.random() > 1 / 3:
                words[chance.randrange(18)] = chance.choice(vocabulary)
                words.insert(chance.randrange(18), chance.choice(vocabulary))
            row = {
                "id": f"q{place}",
                "input": f"question {place}",
                "expected": " ".join(expected),
                "output": " ".join(words),
            }
            stream.write(json.dumps(row) + "\n")
    return path


def one_round(path: Path, suite: Any, pool: Any) -> Round:
    from scoring.engine import loading, plan
    from scoring.engine.dispatch import work_on
    from scoring.models import Team

    start = time.perf_counter()
    loaded = loading.load_file(Team.objects.get(), path, path.stem)
    middle = time.perf_counter()
    run = plan.new_run(loaded.output_set, suite=suite)
    work_on(run, pool)
    end = time.perf_counter()
    if run.state != "finished" or run.error_count:
        raise SystemExit(f"the run is {run.state} with {run.error_count} errors")
    path.unlink()
    return Round(middle - start, end - middle)


def peak_megabytes(pool: Any) -> list[float]:
    """Of this process and of every pool process."""
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    for pid in pool.process_ids():
        status = Path(f"/proc/{pid}/status").read_text()
        peaks += [int(line.split()[1]) / 1024 for line in status.splitlines() if "VmHWM" in line]
    return peaks


if __name__ == "__main__":
    main()
