"""Scores a few cases at once for *try it* and the stateless API, outside the web process.

One helper process per web process, started when first needed, keeps the scorers loaded. A call
that takes too long ends the helper; the next call starts another.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Pipe
from typing import Any, Final

from django.conf import settings

from scoring.core.contract import Case, ConfigError, Json, Result, ServiceError
from scoring.engine.tryout.queue import TryoutQueue

TIMEOUT_SECONDS: Final = 2.0
START_SECONDS: Final = 10.0

_queue = TryoutQueue()
_helper: Helper | None = None


def score(
    type: str,  # noqa: A002  the word the API uses
    config: Mapping[str, Json],
    threshold: float | None,
    cases: Sequence[Case],
    by: int | None = None,
) -> list[Result]:
    """One result per case, in order, within TIMEOUT_SECONDS from its turn; `by` is a person's id.

    Raises ConfigError for a bad config or a type that is not deterministic, ServiceError when it
    takes too long, BusyError when others come first.
    """
    with _queue.turn(by):
        try:
            return _living_helper().ask((type, dict(config), threshold, list(cases)))
        except TimeoutError:
            text = (
                f"scoring took longer than {TIMEOUT_SECONDS:g} seconds; try fewer or shorter texts"
            )
        except (EOFError, OSError):
            text = "the process that scores ended; try again"
        close_helper()
    raise ServiceError(text, retry=True)


def close_helper() -> None:
    """End the helper, if there is one."""
    global _helper
    helper, _helper = _helper, None
    if helper is not None:
        helper.end()


class Helper:
    """A child process that answers questions over a pipe, and ends when the pipe closes."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "scoring.engine.tryout.helper_process", str(theirs.fileno())],
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()

    def begin(self) -> None:
        """Wait until the scorers, the site's own included, are loaded."""
        self._pipe.send(settings.EVALSITE_SCORERS)
        self._await(START_SECONDS)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: tuple[Any, ...]) -> list[Result]:
        """The answer. Raises ConfigError; TimeoutError, EOFError or OSError when there is none."""
        self._pipe.send(question)
        errors, results = self._await(TIMEOUT_SECONDS)
        if errors is not None:
            raise ConfigError(errors)
        return [Result(*result) for result in results]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def forget(self) -> None:
        """After a fork: the helper belongs to the parent, only our copy of the pipe is ours."""
        self._pipe.close()
        self._process.returncode = 0  # lest Python warns of a child that is not ours

    def _await(self, seconds: float) -> Any:
        if not self._pipe.poll(seconds):
            raise TimeoutError
        return self._pipe.recv()


def _living_helper() -> Helper:
    global _helper  # noqa: PLW0603
    if _helper is not None and not _helper.is_alive:
        close_helper()
    if _helper is None:
        _helper = Helper()
        _helper.begin()
    return _helper


def _after_fork() -> None:
    global _queue, _helper  # noqa: PLW0603
    _queue = TryoutQueue()
    helper, _helper = _helper, None
    if helper is not None:
        with contextlib.suppress(OSError):
            helper.forget()


os.register_at_fork(after_in_child=_after_fork)
