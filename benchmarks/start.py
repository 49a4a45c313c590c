"""What `manage.py start --demo` costs on an empty folder.

    python benchmarks/start.py [--rounds 3]

Seconds and processor time of all its processes until the first page answers: setting the database
up, loading and scoring the demo, starting web server and worker. The worker goes on with what it
was left; with `--idle` the processor time until nothing is left is shown as well, in which loading
the model for embeddings weighs most.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from rounds import (
    ROOT,
    Clock,
    Round,
    others_cell,
    print_head,
    print_machine,
    print_row,
    seconds_cell,
)

PATIENCE_SECONDS = 120
LEFT = (
    "SELECT (SELECT COUNT(*) FROM scoring_run WHERE finished_at IS NULL) + "
    "(SELECT COUNT(*) FROM scoring_job WHERE state IN ('waiting', 'working'))"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idle", action="store_true", help="wait until the worker is done")
    arguments = parser.parse_args()
    rounds = [start_site(is_idle_awaited=arguments.idle) for _ in range(arguments.rounds)]
    print_head("until", "seconds", "CPU s", "other programs")
    for index, name in enumerate(("the first page", "nothing is left")[: len(rounds[0])]):
        these = [each[index] for each in rounds]
        seconds, cpu = [each.seconds for each in these], [each.cpu for each in these]
        print_row(name, seconds_cell(seconds), seconds_cell(cpu), others_cell(these))
    print_machine()


def start_site(*, is_idle_awaited: bool) -> list[Round]:
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        environment = {**os.environ, "EVALSITE_DATA_DIR": folder}
        command = [sys.executable, str(ROOT / "manage.py"), "start", "--demo", "--port", str(port)]
        clock = Clock()
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as site:
            try:
                wait_until(lambda: answers(port))
                found = [clock.stop()]
                if is_idle_awaited:
                    wait_until(lambda: not what_is_left(Path(folder) / "evalsite.sqlite3"))
                    found.append(clock.stop())
            finally:
                site.send_signal(signal.SIGTERM)
        return found


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit("the site does not get there")
        time.sleep(0.05)


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/accounts/login/", timeout=5) as page:
            return bool(page.status == 200)
    except (URLError, OSError):
        return False


def what_is_left(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(LEFT).fetchone()[0])
    finally:
        connection.close()


if __name__ == "__main__":
    main()
