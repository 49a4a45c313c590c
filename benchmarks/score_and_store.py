"""Cases scored by three deterministic scorers and stored, per second, on a fresh SQLite file.

    python benchmarks/score_and_store.py [--sizes 1000 10000 100000] [--million] [--rounds 3]
                                         [--characters 100 300] [--celery]

With `--celery`, on PostgreSQL by `on_postgresql.py`, each round of the worker's own processes is
followed by one of as many behind a broker of the benchmark's own, RabbitMQ.

Timed: making, planning, scoring, storing and summarising a run whose outputs are already stored,
by a worker whose processes have started, as on a site. Medians of the rounds, the quickest in
brackets. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from typing import Any

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
from whole_path import peak_megabytes, score

from tests.support.broker_server import RabbitMQ

CHUNK = 5_000


def main() -> None:
    arguments = parse()
    os.environ["EVALSITE_WORKER_PROCESSES"] = str(arguments.processes)
    if arguments.celery:
        os.environ["CELERY_BROKER_URL"] = RabbitMQ().url
    with new_site():
        measure_all(arguments)
        print_machine()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="a run of 1,000,000 cases, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--characters", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--celery", action="store_true", help="beside them as many behind a broker")
    parser.add_argument("--shard", type=int, default=None, help="outputs per shard")
    return parser.parse_args()


def measure_all(arguments: argparse.Namespace) -> None:
    from scoring.engine.processes.process_pool import ProcessPool
    from scoring.engine.runs import planning

    if arguments.shard:
        planning.SHARD_OUTPUTS = arguments.shard
    print_head("processes", "characters", "cases", "cases/s", "CPU µs a case",
               "peak RSS per process, MB", "other programs")  # fmt: skip
    suite = make_suite()
    with ExitStack() as stack:
        pools = {"its own": stack.enter_context(ProcessPool(arguments.processes))}
        if arguments.celery:
            from scoring.engine.worker.celery_pool import CeleryPool

            pools["Celery's"] = stack.enter_context(CeleryPool())
        for pool in pools.values():
            score(make_outputs(2 * CHUNK, 100), suite, pool)  # starts the processes
        for characters in arguments.characters:
            for size in arguments.sizes + [1_000_000] * arguments.million:
                measure_size(size, characters, suite, pools, arguments.rounds)


def measure_size(size: int, characters: int, suite: Any, pools: dict[str, Any], count: int) -> None:
    rounds: dict[str, list[Round]] = {name: [] for name in pools}
    for _ in range(1 if size > 100_000 else count):
        for name, pool in pools.items():
            outputs = make_outputs(size, characters)
            rounds[name].append(measure(partial(score, outputs, suite, pool)))
    for name, pool in pools.items():
        mine, is_own = rounds[name], name == "its own"
        peaks = ", ".join(f"{peak:.0f}" for peak in peak_megabytes(pool)) if is_own else ""
        cells = rate_cell(size, mine), cpu_cell(size, mine), peaks, others_cell(mine)
        print_row(name, characters, f"{size:,}", *cells)


def make_outputs(size: int, characters: int = 100) -> Any:
    """A ready output set over a new version of `size` cases."""
    from scoring.models import Case, Dataset, DatasetVersion, Output, OutputSet, Team
    from scoring.models.bulk import bulk_insert

    name = f"{size} {time.monotonic_ns()}"
    dataset = Dataset.objects.create(team=Team.objects.get(), name=name)
    version = DatasetVersion.with_loading.create(dataset=dataset)
    case_columns = ("version_id", "position", "key", "input_json", "expected_json")
    empty = {"references_json": "[]", "metadata_json": "{}", "tags_json": "[]"}
    for rows in chunks(size, characters):
        cases = [
            (version.pk, n, f"q{n}", '"a question"', f'"{expected}"', *empty.values())
            for n, (expected, _) in rows
        ]
        bulk_insert(Case, (*case_columns, *empty), cases)
    version.publish(content_hash=name[:64], case_count=size)
    made = OutputSet.objects.create(version=version, series="a", state="ready", output_count=size)
    first = version.cases.order_by("position").values_list("pk", flat=True)[0]
    for rows in chunks(size, characters):
        outputs = [(made.pk, first + n - 1, 0, text, False, "") for n, (_, text) in rows]
        columns = ("output_set_id", "case_id", "trial", "text", "is_json", "error")
        bulk_insert(Output, columns, outputs)
    return made


def chunks(size: int, characters: int) -> Iterator[list[tuple[int, tuple[str, str]]]]:
    """Rows of position, expected text and output."""
    rows = enumerate(pairs(size, characters), 1)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


if __name__ == "__main__":
    main()
