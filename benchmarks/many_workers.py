"""What a second worker behind a broker brings, beside one and beside a worker's own processes.

    python benchmarks/on_postgresql.py many_workers.py [--cases 100000] [--rounds 3]

Real workers, `manage.py worker`, on this machine: one with one process and one with two, then one
and two behind RabbitMQ with a process each. They take turns at runs of outputs that are stored
already, under three deterministic scorers. Timed: from the start of a run to its end, as its row
has it. The processor time of the server, of the broker and of the workers tells what bounds them.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from subprocess import DEVNULL
from typing import Any, Final, NamedTuple

from rounds import ROOT, TICKS, make_suite, new_site, print_head, print_machine, print_row
from score_and_store import make_outputs
from serving import family

from tests.support.broker_server import RabbitMQ

#: Whose processor time it is, by what its command says.
PARTS: Final = {
    **dict.fromkeys(("manage.py", "celery_processes", "multiprocessing"), "workers"),
    **dict.fromkeys(("rabbit", "beam", "erl", "epmd"), "broker"),
    "postgres": "server",
}


class Setup(NamedTuple):
    """Workers, each with so many processes, behind a broker or with a pool of their own."""

    workers: int
    processes: int
    is_celery: bool


SETUPS: Final = (Setup(1, 1, False), Setup(1, 2, False), Setup(1, 1, True), Setup(2, 1, True))


class Timing(NamedTuple):
    """Of one run: how long it took, and the processor time of each part meanwhile."""

    seconds: float
    cpu: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--characters", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    broker = RabbitMQ()
    with new_site():
        measure(arguments.cases, arguments.characters, arguments.rounds, broker)
        print_machine()


def measure(cases: int, characters: int, rounds: int, broker: RabbitMQ) -> None:
    suite = make_suite()
    outputs = make_outputs(cases, characters)
    timings: dict[Setup, list[Timing]] = {setup: [] for setup in SETUPS}
    for _ in range(rounds):
        for setup in SETUPS:
            with workers(setup, broker):
                score(make_outputs(5_000, characters), suite)  # starts the processes
                timings[setup].append(score(outputs, suite))
    print_head("workers", "processes each", "behind", "cases/s", "µs a case: workers", "server",
               "broker", "of one like it")  # fmt: skip
    for setup, mine in timings.items():
        alone = next(timings[each] for each in SETUPS if each.is_celery == setup.is_celery)
        seconds = median(timing.seconds for timing in mine)
        parts = [
            f"{1e6 * median(timing.cpu.get(part, 0.0) for timing in mine) / cases:.1f}"
            for part in ("workers", "server", "broker")
        ]
        ratio = median(timing.seconds for timing in alone) / seconds
        behind = "RabbitMQ" if setup.is_celery else "its own pool"
        rate = f"{cases / seconds:,.0f}"
        print_row(setup.workers, setup.processes, behind, rate, *parts, f"{ratio:.2f}")


@contextmanager
def workers(setup: Setup, broker: RabbitMQ) -> Iterator[None]:
    """So many have said that they are there."""
    from scoring.models import Worker

    environment = {**os.environ, "EVALSITE_WORKER_PROCESSES": str(setup.processes)}
    command = [sys.executable, str(ROOT / "manage.py"), "worker"]
    if setup.is_celery:
        environment["CELERY_BROKER_URL"] = broker.url
        command.append("--celery")
    started = [
        subprocess.Popen(command, env=environment, stdout=DEVNULL, stderr=DEVNULL)
        for _ in range(setup.workers)
    ]
    try:
        while Worker.objects.count() < setup.workers:
            time.sleep(0.1)
        yield
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait()


def score(outputs: Any, suite: Any) -> Timing:
    from scoring.engine.runs import planning
    from scoring.models import RunState

    before = cpu_by_part()
    run = planning.create_run(outputs, suite=suite)
    while run.state != RunState.FINISHED:
        time.sleep(0.1)
        run.refresh_from_db()
    if run.error_count:
        raise SystemExit(f"the run has {run.error_count} errors")
    after = cpu_by_part()
    spent = {part: seconds - before.get(part, 0.0) for part, seconds in after.items()}
    return Timing((run.finished_at - run.started_at).total_seconds(), spent)


def cpu_by_part() -> dict[str, float]:
    """Seconds so far, of what this process has started."""
    found: dict[str, float] = {}
    for _, ticks, command in family(os.getpid()):
        for word, part in PARTS.items():
            if word in command:
                found[part] = found.get(part, 0.0) + ticks / TICKS
                break
    return found


if __name__ == "__main__":
    main()
