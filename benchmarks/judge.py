"""Judge calls a second against a stub that answers after 200 ms, and the memory they take.

    python benchmarks/judge.py [--calls 2000] [--concurrency 32] [--latency 0.2] [--rounds 3]

The ideal is calls * latency / concurrency. The stub runs in a process of its own. Every call goes
through the real scorer, gate, client and guard; replies are kept in memory. Prints a Markdown
table.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scoring.core.bound import bind  # noqa: E402
from scoring.core.contract import Case  # noqa: E402
from scoring.core.judge.endpoint import Endpoint  # noqa: E402
from scoring.core.services import using  # noqa: E402
from scoring.core.standalone import Standalone  # noqa: E402

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
        measure(endpoint, arguments)


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


def measure(endpoint: Endpoint, arguments: argparse.Namespace) -> None:
    score(endpoint, cases(WARM_UP, "warm-up"))
    ideal = arguments.calls * arguments.latency / arguments.concurrency
    print("| calls | seconds | ideal | share of ideal | CPU ms per call | RSS, MB | grown, MB |")
    print("|---|---|---|---|---|---|---|")
    for number in range(arguments.rounds):
        rss, cpu, started = resident_mb(), time.process_time(), time.perf_counter()
        score(endpoint, cases(arguments.calls, f"round {number}"))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        share, each = ideal / seconds, cpu / arguments.calls * 1000
        grown = resident_mb() - rss
        times = f"{arguments.calls:,} | {seconds:.2f} | {ideal:.2f} | {share:.1%} | {each:.2f}"
        print(f"| {times} | {resident_mb():.0f} | {grown:+.1f} |", flush=True)


def score(endpoint: Endpoint, some: Sequence[Case]) -> None:
    """Judge the cases with services that remember nothing afterwards."""
    with using(Standalone(endpoint)):
        results = bind("factuality", {"model": "stub-1"}).score(some)
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
