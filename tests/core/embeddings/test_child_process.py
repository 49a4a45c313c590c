"""Local vectors from a process of their own, however that process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from scoring.core.embeddings import child_process
from scoring.core.embeddings.child_process import EmbeddingProcess
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.embeddings.local import get_model
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

TEXTS = ["The train leaves at noon.", "", "It departs at twelve."]


@pytest.fixture
def process() -> Iterator[EmbeddingProcess]:
    made = EmbeddingProcess()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddingProcess]:
    """For tests that load the model, which takes seconds."""
    made = EmbeddingProcess()
    yield made
    made.close()


def ask_for_nothing(process: EmbeddingProcess) -> None:
    """A question that loads no model."""
    with pytest.raises(EmbeddingError, match="not one that models may lie in"):
        process.compute("/nowhere", TEXTS)


def kill(process: EmbeddingProcess) -> int:
    pid = process.process_id
    assert pid
    os.kill(pid, signal.SIGKILL)
    return pid


def test_the_vectors_are_the_models_own(minilm: str, shared: EmbeddingProcess) -> None:
    rows, is_cut = shared.compute(minilm, TEXTS)
    expected, is_cut_here = get_model(minilm).compute(TEXTS)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert is_cut == is_cut_here


def test_a_process_killed_within_a_batch_costs_none(minilm: str, shared: EmbeddingProcess) -> None:
    expected, _ = shared.compute(minilm, TEXTS)
    first = shared.process_id
    killer = threading.Timer(0.2, kill, [shared])
    killer.start()
    many, _ = shared.compute(minilm, [f"{text} {n}" for n in range(300) for text in TEXTS])
    killer.join()
    assert len(many) == 900
    assert shared.process_id != first
    again, _ = shared.compute(minilm, TEXTS)
    np.testing.assert_allclose(again, expected, atol=1e-6)


def test_one_killed_between_two_batches_is_started_again(process: EmbeddingProcess) -> None:
    ask_for_nothing(process)
    first = kill(process)
    ask_for_nothing(process)
    assert process.process_id != first


def test_it_ends_when_nobody_asks_and_begins_again(
    process: EmbeddingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "IDLE_SECONDS", 0.2)
    ask_for_nothing(process)
    wait_until(lambda: process.process_id is None)
    ask_for_nothing(process)


def test_a_process_that_always_dies_is_an_error_that_may_be_tried_again(
    process: EmbeddingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process.sys, "executable", "/bin/false")
    with pytest.raises(EmbeddingError, match="died 3 times") as caught:
        process.compute("any", TEXTS)
    assert (caught.value.code, caught.value.retry) == ("embedding_failed", True)


def test_it_ends_with_its_parent() -> None:
    code = (
        "import os\n"
        "from scoring.core.embeddings import child_process\n"
        "child_process.IDLE_SECONDS = 3600\n"  # it does not end because nobody asks
        "process = child_process.EmbeddingProcess()\n"
        "try: process.compute('/nowhere', ['a'])\n"
        "except Exception: print(process.process_id, flush=True)\n"
        "os._exit(9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    wait_until(lambda: not _is_running(int(ended.stdout)))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
