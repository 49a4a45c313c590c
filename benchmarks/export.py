"""How fast rows become files, and what memory that takes.

    python benchmarks/export.py [--sizes 100000] [--million] [--rounds 3] [--only "run, jsonl"]
                                [--characters 100 300]

A run of so many cases with three deterministic scorers, on a fresh SQLite file; its list, its
version and its output set are exported as from a page, each in a process of its own that throws the
bytes away. The first chunk comes once the list is known. Medians of the rounds, the quickest in
brackets. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rounds import CPUS, Clock, make_suite, new_site, print_head, print_machine, print_row
from whole_path import one_round, write_file


class Round(NamedTuple):
    """Seconds, bytes, and megabytes of memory above those before."""

    rows: int
    first: float
    whole: float
    cpu: float
    size: int
    growth: float
    others: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--million", action="store_true", help="a run of 1,000,000 cases, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the names of what to measure")
    parser.add_argument("--characters", type=int, nargs="+", default=[100, 300])
    arguments = parser.parse_args()
    with new_site() as folder:
        measure(arguments, folder)
        print_machine()


def measure(arguments: argparse.Namespace, folder: Path) -> None:
    suite = make_suite()
    print_head("what", "characters", "cases", "rows", "rows/s", "CPU µs a row", "first chunk, ms",
               "MB", "RSS growth, MB", "other programs")  # fmt: skip
    for characters in arguments.characters:
        for size in arguments.sizes + [1_000_000] * arguments.million:
            one_round(write_file(folder, size, 1, characters), suite, CPUS)
            for kind, sheet, file_format in exports():
                name = f"{kind}, {file_format}"
                if arguments.only in name:
                    rounds = [apart(sheet, file_format) for _ in range(arguments.rounds)]
                    print_row(name, characters, f"{size:,}", *cells(rounds))


def cells(rounds: list[Round]) -> list[str]:
    """Medians, beside the rows a second those of the quickest round; memory at its worst."""
    rows, seconds = rounds[0].rows, [each.whole for each in rounds]
    return [
        f"{rows:,}",
        f"{rows / median(seconds):,.0f} ({rows / min(seconds):,.0f})",
        f"{1e6 * median(each.cpu for each in rounds) / rows:.1f}",
        f"{1_000 * median(each.first for each in rounds):.0f}",
        f"{rounds[0].size / 1e6:.0f}",
        f"{max(each.growth for each in rounds):.0f}",
        f"{median(each.others for each in rounds):.0%}",
    ]


def exports() -> list[tuple[str, Callable[[], Any], str]]:
    """Of the newest run: what is exported, how it is begun, and as what."""
    from scoring.engine.export import output_set_table, run_table, version_table
    from scoring.models import Run, Verdict
    from scoring.models.case_list.filters import CaseFilters
    from scoring.models.case_list.table import CaseOrder, CaseTable

    def table(filters: CaseFilters, sorts: bool = False) -> CaseTable:
        run = Run.objects.select_related("output_set__version__dataset").latest("pk")
        scorers = list(run.scorers.order_by("position"))
        return CaseTable(run, scorers, filters, CaseOrder(scorers[-1] if sorts else None))

    everything = CaseFilters()
    failed, found = CaseFilters(verdict=Verdict.FAIL), CaseFilters(text="Monday refund")
    whole: list[tuple[str, Callable[[], Any], str]] = [
        ("run", lambda: run_table(table(everything)), kind) for kind in ("jsonl", "json", "csv")
    ]
    return [
        *whole,
        ("run by score", lambda: run_table(table(everything, True)), "jsonl"),
        ("run, failed cases", lambda: run_table(table(failed)), "jsonl"),
        ("run, text search", lambda: run_table(table(found)), "jsonl"),
        ("version", lambda: version_table(table(everything).run.output_set.version), "jsonl"),
        ("version", lambda: version_table(table(everything).run.output_set.version), "csv"),
        ("output set", lambda: output_set_table(table(everything).run.output_set), "jsonl"),
    ]


def apart(begin: Callable[[], Any], file_format: str) -> Round:
    """One export in a process of its own."""
    from django.db import connections

    connections.close_all()
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    child = os.fork()
    if not child:
        theirs.send_bytes(json.dumps(exported(begin, file_format)).encode())
        os._exit(0)
    try:
        return Round(*json.loads(ours.recv_bytes()))
    finally:
        os.waitpid(child, 0)


def exported(begin: Callable[[], Any], file_format: str) -> Round:
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = memory("VmRSS")
    clock, start = Clock(), time.perf_counter()
    sheet = begin()
    stream = sheet.stream(file_format)
    size = len(next(stream))
    first = time.perf_counter() - start
    for chunk in stream:
        size += len(chunk)
    found = clock.stop()
    growth = memory("VmHWM") - before
    return Round(sheet.count, first, found.seconds, found.cpu, size, growth, found.others)


def memory(name: str) -> float:
    """Megabytes, as the system counts them for this process."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if name in line) / 1024


if __name__ == "__main__":
    main()
