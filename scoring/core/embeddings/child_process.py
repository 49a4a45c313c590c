"""Local embeddings in a child process, which ends when it has been idle for a while.

torch and a model's weights stay in memory as long as their process lives: some 600 MB. A worker
that embeds now and then gives them back.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Any, Final

from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.embeddings.local import LocalModel, get_model
from scoring.core.embeddings.model_folders import allow_folders, allowed_folders

if TYPE_CHECKING:
    import numpy as np

IDLE_SECONDS: Final = 30.0
MAX_TRIES: Final = 3  # of a batch whose process dies
DIED: Final = f"the process that embeds texts died {MAX_TRIES} times; look whether memory is short"

_Answer = tuple[Any, Sequence[bool]]


class EmbeddingProcess:
    """At most one child process, started when texts come, and again when it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Any = None

    @property
    def process_id(self) -> int | None:
        """None while no process is running."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def compute(self, model_name: str, texts: Sequence[str]) -> _Answer:
        """Raises EmbeddingError."""
        with self._lock:
            for _ in range(MAX_TRIES):
                try:
                    return self._ask(model_name, texts)
                except (EOFError, OSError):  # it died, or ended just before it was asked
                    self._end()
        raise EmbeddingError("embedding_failed", DIED, retry=True)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(self, model_name: str, texts: Sequence[str]) -> _Answer:
        if self.process_id is None:
            self._end()
            self._start()
        self._pipe.send((model_name, list(texts)))
        fault, answer = self._pipe.recv()
        if fault is not None:
            code, text, retry = fault
            raise EmbeddingError(code, text, retry=retry)
        vectors: _Answer = answer
        return vectors

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        paths = os.pathsep.join(path for path in sys.path if path)
        command = [sys.executable, "-m", __name__, str(theirs.fileno()), str(IDLE_SECONDS)]
        command += map(str, allowed_folders())
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            command,
            env={**os.environ, "PYTHONPATH": paths},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,  # closes when this process ends
        )
        theirs.close()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()
            self._pipe.close()


class ChildProcessModel:
    """A local model whose vectors are computed in the embedding process."""

    def __init__(self, known: LocalModel, name: str, process: EmbeddingProcess) -> None:
        self.step: Final = known.step
        self.model: Final = known.model
        self.key: Final = known.key
        self.turn: Final = known.turn
        self._name, self._process = name, process

    def compute(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[bool]]:
        return self._process.compute(self._name, texts)


_process: EmbeddingProcess | None = None


def use_child_process() -> None:
    """Compute local vectors in a process of their own from now on."""
    global _process  # noqa: PLW0603
    _process = _process or EmbeddingProcess()


def get_local_model(name: str) -> LocalModel | ChildProcessModel:
    """The local model of that name. Raises EmbeddingError."""
    known = get_model(name)
    return ChildProcessModel(known, name, _process) if _process else known


def main(fd: int, idle_seconds: float) -> None:
    """Answer until nobody asks, or until the parent ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Connection(fd) as pipe, contextlib.suppress(EOFError, OSError):
        while pipe.poll(idle_seconds):
            pipe.send(_answer(*pipe.recv()))


def _answer(model_name: str, texts: list[str]) -> tuple[tuple[str, str, bool] | None, Any]:
    try:
        return None, get_model(model_name).compute(texts)
    except EmbeddingError as fault:
        return (fault.code, fault.text, fault.retry), None
    except Exception as fault:  # noqa: BLE001  libraries raise what they like
        return ("embedding_failed", f"the model failed: {str(fault)[:200]}", False), None


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    allow_folders(sys.argv[3:])
    main(int(sys.argv[1]), float(sys.argv[2]))
