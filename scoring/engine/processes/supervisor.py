"""Keeps child processes running, and lets none outlive this one."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

STOP_SECONDS: Final = 10
MAX_PAUSE_SECONDS: Final = 30.0
HEALTHY_SECONDS: Final = 10.0  # who lived that long is started again at once
MAX_FAILURES: Final = 5  # of a child that must run, one after the other


@dataclass
class Child:
    """A command to keep running. Its stdin is a pipe that closes when this process ends.

    Without an `essential` child there is no point in going on.
    """

    name: str
    command: Sequence[str]
    folder: Path
    pass_fds: Sequence[int] = ()
    is_essential: bool = False
    process: subprocess.Popen[bytes] | None = None
    failures: int = 0
    started_at: float = 0.0
    due_at: float = 0.0

    def start(self) -> None:
        # A group of its own: Ctrl-C in the terminal is for us, who then stop it in order.
        self.process = subprocess.Popen(  # noqa: S603  our own commands
            self.command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            pass_fds=self.pass_fds,
            process_group=0,
        )
        self.started_at = time.monotonic()

    def look_after(self) -> None:
        """Start the child again if it has ended; the pauses grow while it keeps failing."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due_at:
                self.start()
        elif self.process.poll() is not None:
            lived = now - self.started_at
            self.failures = 0 if lived > HEALTHY_SECONDS else self.failures + 1
            pause = min(MAX_PAUSE_SECONDS, 2.0**self.failures - 1)
            code = self.process.returncode
            log.warning("the %s ended with %s; starting again in %g s", self.name, code, pause)
            self.process, self.due_at = None, now + pause

    def stop(self, seconds: float) -> None:
        """Ask it to end, and kill all of its group if it does not within so many seconds."""
        process, self.process = self.process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @property
    def is_hopeless(self) -> bool:
        return self.is_essential and self.failures >= MAX_FAILURES


class Supervisor:
    """Runs children until told to stop."""

    def __init__(self, children: Sequence[Child]) -> None:
        self.children = children
        self.is_stopping = False

    def stop(self, *_: object) -> None:
        """A signal handler, so it only sets a flag."""
        self.is_stopping = True

    def run(self) -> bool:
        """Keep the children running until SIGINT or SIGTERM; False if an essential one cannot."""
        signal.signal(signal.SIGINT, self.stop)
        signal.signal(signal.SIGTERM, self.stop)
        try:
            while not (self.is_stopping or any(child.is_hopeless for child in self.children)):
                for child in self.children:
                    child.look_after()
                time.sleep(0.2)
        finally:
            self._end()
        return self.is_stopping

    def _end(self) -> None:
        """Ask every child to stop, and kill those that do not in time."""
        for child in self.children:
            if child.process:
                child.process.terminate()
        end = time.monotonic() + STOP_SECONDS
        for child in self.children:
            child.stop(max(0.0, end - time.monotonic()))


def exit_with_parent(fd: int) -> None:
    """End this process at once when the other end of the pipe closes, for whatever reason."""

    def watch() -> None:
        while os.read(fd, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
