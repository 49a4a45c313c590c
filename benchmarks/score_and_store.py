"""Cases scored by three deterministic scorers and stored, per second, on a fresh SQLite file.

    python benchmarks/score_and_store.py [--sizes 1000 10000 100000] [--million] [--rounds 3]

Timed: planning, scoring, storing and summarising a run whose outputs are already stored, with the
pool's processes already started. Prints a Markdown table. The processor time of all processes
together hardly depends on what else the machine does; cases/s does.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

CHUNK = 5_000
TEXT = """
    the refund was issued on Monday and reached your account within three working days after we had
    cancelled the order that arrived damaged please send us a photo of it
"""


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="a run of 1,000,000 cases, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shard", type=int, default=None, help="outputs per shard")
    return parser.parse_args()


def measure(arguments: argparse.Namespace) -> None:
    from scoring.engine import plan
    from scoring.engine.pool import Pool

    if arguments.shard:
        plan.SHARD_OUTPUTS = arguments.shard
    sizes = arguments.sizes + [1_000_000] * arguments.million
    print("| cases | cases/s (median) | all rounds | CPU µs per case | peak RSS per process, MB |")
    print("|---|---|---|---|---|")
    suite = make_suite()
    with Pool(arguments.processes) as pool:
        time_run(make_outputs(2 * CHUNK), suite, pool)  # starts the processes
        for size in sizes:
            rounds = 1 if size > 100_000 else arguments.rounds
            times = [time_run(make_outputs(size), suite, pool) for _ in range(rounds)]
            rates = [size / seconds for seconds, _ in times]
            each = ", ".join(f"{rate:,.0f}" for rate in rates)
            cpu = f"{min(cpu for _, cpu in times) / size * 1e6:.1f}"
            peaks = ", ".join(f"{peak:.0f}" for peak in peak_rss(pool))
            cells = f"{size:,}", f"{statistics.median(rates):,.0f}", each, cpu, peaks
            print(f"| {' | '.join(cells)} |", flush=True)


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


def make_outputs(size: int) -> Any:
    """A ready output set over a new version of `size` cases with texts of about 100 characters."""
    from scoring.models import Case, Dataset, DatasetVersion, Output, OutputSet, Team
    from scoring.models.bulk import insert

    name = f"{size} {time.monotonic_ns()}"
    dataset = Dataset.objects.create(team=Team.objects.get(), name=name)
    version = DatasetVersion.with_loading.create(dataset=dataset)
    case_columns = ("version_id", "position", "key", "input_json", "expected_json")
    empty = {"references_json": "[]", "metadata_json": "{}", "tags_json": "[]"}
    for rows in chunks(size):
        cases = [
            (version.pk, n, f"q{n}", '"a question"', f'"{expected}"', *empty.values())
            for n, expected, _ in rows
        ]
        insert(Case, (*case_columns, *empty), cases)
    version.publish(content_hash=name[:64], case_count=size)
    made = OutputSet.objects.create(version=version, series="a", state="ready", output_count=size)
    first = version.cases.order_by("position").values_list("pk", flat=True)[0]
    for rows in chunks(size):
        outputs = [(made.pk, first + n - 1, 0, text, False, "") for n, _, text in rows]
        columns = ("output_set_id", "case_id", "trial", "text", "is_json", "error")
        insert(Output, columns, outputs)
    return made


def chunks(size: int) -> Iterator[list[tuple[int, str, str]]]:
    """Rows of (position, expected, output); a third of the outputs equals the expected text."""
    chance = random.Random(1)
    vocabulary = TEXT.split()
    for start in range(0, size, CHUNK):
        rows = []
        for n in range(start + 1, min(start + CHUNK, size) + 1):
            expected = " ".join(chance.choices(vocabulary, k=18))
            words = expected.split()
            if chance.random() > 1 / 3:
                words[chance.randrange(18)] = chance.choice(vocabulary)
                words.insert(chance.randrange(18), chance.choice(vocabulary))
            rows.append((n, expected, " ".join(words)))
        yield rows


def time_run(outputs: Any, suite: Any, pool: Any) -> tuple[float, float]:
    """Seconds that passed, and processor seconds that all processes took."""
    from scoring.engine import plan
    from scoring.engine.dispatch import work_on

    run = plan.new_run(outputs, suite=suite)
    start, cpu = time.perf_counter(), cpu_seconds(pool)
    work_on(run, pool)
    seconds, cpu = time.perf_counter() - start, cpu_seconds(pool) - cpu
    if run.state != "finished" or run.error_count:
        raise SystemExit(f"the run is {run.state} with {run.error_count} errors")
    return seconds, cpu


def cpu_seconds(pool: Any) -> float:
    ticks = 0
    for pid in pool.process_ids():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def peak_rss(pool: Any) -> list[float]:
    """Of this process and of every pool process, in MB."""
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    for pid in pool.process_ids():
        status = Path(f"/proc/{pid}/status").read_text()
        peaks += [int(line.split()[1]) / 1024 for line in status.splitlines() if "VmHWM" in line]
    return peaks


if __name__ == "__main__":
    main()
