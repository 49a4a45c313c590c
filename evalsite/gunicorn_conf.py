"""How `manage.py start` runs gunicorn."""

from __future__ import annotations

import gc
import os
import stat
import threading
from importlib import import_module
from typing import Any

worker_class = "evalsite.server.WebProcess"
workers = 2
threads = 4
preload_app = True
accesslog = None
loglevel = "warning"
control_socket_disable = True
timeout = 60
graceful_timeout = 5
LOCK_SECONDS = 5
STATEMENT_SECONDS = 60


def on_starting(server: Any) -> None:  # noqa: ARG001  gunicorn gives it
    """The application is loaded and no worker forked yet: they share this memory."""
    keep_what_is_loaded()
    limit_waits()


def limit_waits() -> None:
    """A page does not wait for the database as long as the worker may."""
    from django.db import connections

    database = connections.settings["default"]
    options = database["OPTIONS"]
    if database["ENGINE"] == "evalsite.sqlite":
        options["timeout"] = LOCK_SECONDS
    else:  # what was said before, by the site's own URL as well, comes last and counts
        limits = f"-c lock_timeout={LOCK_SECONDS}s -c statement_timeout={STATEMENT_SECONDS}s"
        options["options"] = f"{limits} {options.get('options', '')}".rstrip()


def keep_what_is_loaded() -> None:
    """Spare garbage collection what every page needs: walking it took 90 ms now and then."""
    from django.conf import settings

    from scoring.core.registry import all_types

    import_module(settings.ROOT_URLCONF)  # which the first request would do otherwise
    all_types()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def post_worker_init(worker: Any) -> None:
    """Stop the whole server when `start` is gone, however it ended: its pipe is our stdin."""
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=_stop_with_starter, args=[worker], daemon=True).start()


def _stop_with_starter(worker: Any) -> None:
    import signal

    while os.read(0, 1):
        pass
    if os.getppid() == worker.ppid:
        os.kill(worker.ppid, signal.SIGTERM)
