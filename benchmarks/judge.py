"""Judge calls a second against a stub that answers after 200 ms, and the memory they take.

    python benchmarks/judge.py [--calls 2000] [--concurrency 32] [--latency 0.2] [--rounds 3]

The ideal is calls * latency / concurrency. The stub runs in a process of its own, and its processor
time is not counted. Every call goes through the real scorer, gate, client and guard; replies are
kept in memory. Memory is measured after each round; "growth" is from the first one's end to the
last one's. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rounds import (
    ROOT,
    Round,
    measure,
    others_cell,
    own_cpu_cell,
    print_head,
    print_machine,
    print_row,
    seconds_cell,
    share_cell,
)

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.llm.endpoint import Endpoint
from scoring.core.local_services import LocalServices
from scoring.core.services import use_services

WARM_UP = 64  # calls that open the connections
OUTPUT = "The refund was issued on Monday and reached your account within three working days. " * 4


def main() -> None:
    arguments = parse()
    with stub(arguments.latency) as port:
        base_url = f"http://127.0.0.1:{port}/same/v1"
        endpoint = Endpoint(
            "stub",
            base_url,
            concurrency=arguments.concurrency,
            allowed_hosts=frozenset({"127.0.0.1"}),
        )
        measure_calls(endpoint, arguments)
    print_machine()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2, metavar="SECONDS")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


@contextmanager
def stub(latency: float) -> Iterator[int]:
    """The port of a stub in its own process."""
    command = [sys.executable, "-m", "tests.stub", "--latency", str(latency)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        assert running.stdin
        yield int(running.stdout.readline())
        running.stdin.close()


def measure_calls(endpoint: Endpoint, arguments: argparse.Namespace) -> None:
    score(endpoint, cases(WARM_UP, "warm-up"))
    rounds, memory = [], []
    for number in range(arguments.rounds):
        these = cases(arguments.calls, f"round {number}")
        rounds.append(measure(lambda these=these: score(endpoint, these)))
        memory.append(resident_mb())
    print_head(*CALL_COLUMNS, "RSS, MB", "growth, MB")
    growth = f"{memory[-1] - memory[0]:+.1f}"
    print_row(*call_cells(arguments, rounds), f"{max(memory):.0f}", growth)


CALL_COLUMNS = ("calls", "seconds", "ideal", "share of the ideal", "CPU ms a call",
                "other programs")  # fmt: skip


def call_cells(arguments: argparse.Namespace, rounds: Sequence[Round]) -> list[str]:
    ideal = arguments.calls * arguments.latency / arguments.concurrency
    return [
        f"{arguments.calls:,}",
        seconds_cell([each.seconds for each in rounds]),
        f"{ideal:.2f}",
        share_cell([ideal / each.seconds for each in rounds]),
        own_cpu_cell(arguments.calls, rounds),
        others_cell(rounds),
    ]


def score(endpoint: Endpoint, some: Sequence[Case]) -> None:
    """Judge the cases with services that remember nothing afterwards."""
    with use_services(LocalServices(endpoint)):
        results = configure_scorer("factuality", {"model": "stub-1"}).score(some)
    if any(result.score != 1.0 for result in results):
        raise SystemExit(f"a call failed: {next(r for r in results if r.score != 1.0)}")


def cases(count: int, name: str) -> list[Case]:
    return [Case(f"{OUTPUT} {name} {place}", OUTPUT, name) for place in range(count)]


def resident_mb() -> float:
    """What the process holds at this moment; its peak where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
