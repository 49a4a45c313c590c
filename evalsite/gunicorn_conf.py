"""How `manage.py start` runs gunicorn."""

from __future__ import annotations

import gc
import os
import socket
import stat
import struct
import threading
from importlib import import_module
from typing import Any

worker_class = "gthread"
workers = 2
threads = 4
preload_app = True
accesslog = None
loglevel = "warning"
control_socket_disable = True
timeout = 60
graceful_timeout = 5
STALLED_SECONDS = 60  # a request that sends nothing for so long is given up


def on_starting(server: Any) -> None:  # noqa: ARG001  gunicorn gives it
    """The application is loaded and no worker forked yet: they share this memory."""
    keep_what_is_loaded()


def keep_what_is_loaded() -> None:
    """Spare garbage collection what every page needs: walking it took 90 ms now and then."""
    from django.conf import settings

    import_module(settings.ROOT_URLCONF)  # which the first request would do otherwise
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def when_ready(server: Any) -> None:
    """Let no sender that stalls keep a thread: accepted connections inherit the time-out."""
    for listener in server.LISTENERS:
        patience = struct.pack("ll", STALLED_SECONDS, 0)
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)


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
