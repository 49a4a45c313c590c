"""The processes of a worker that score what the broker delivers: a Celery worker of its own."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from scoring.engine.processes.supervisor import STOP_SECONDS, Child, exit_with_parent

ROOT: Final = Path(__file__).resolve().parents[3]


class CeleryProcesses:
    """Celery's worker with so many processes, which ends with this process."""

    def __init__(self, count: int) -> None:
        command = [sys.executable, "-m", __name__, str(count)]
        self._child = Child("Celery worker", command, ROOT)

    def look_after(self) -> None:
        """Start it, and start it again if it has ended."""
        self._child.look_after()

    def close(self) -> None:
        """Let shards under way end; what takes longer is delivered to another worker."""
        self._child.stop(STOP_SECONDS)


def run(count: int) -> None:
    """Be a Celery worker until SIGTERM, or until the other end of stdin closes."""
    import django

    os.environ["CELERY_SKIP_CHECKS"] = "1"  # they load every page
    django.setup()
    exit_with_parent(sys.stdin.fileno())

    from celery.signals import worker_process_init

    import scoring.engine.worker.preload  # noqa: F401  once for all processes
    from scoring.engine.worker.celery_app import SHARDS_QUEUE, app

    worker_process_init.connect(_begin_process, weak=False)
    own = ["--queues", SHARDS_QUEUE, "--concurrency", str(count), "--loglevel", "WARNING"]
    quiet = ["--without-gossip", "--without-mingle"]
    app.worker_main(["--quiet", "worker", "--hostname", f"{os.getpid()}@%h", *own, *quiet])


def _begin_process(**_: Any) -> None:
    """In each process: a shard's rows are many and none is part of a cycle."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    parent = os.getppid()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


if __name__ == "__main__":
    run(int(sys.argv[1]))
