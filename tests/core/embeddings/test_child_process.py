"""Local vectors from a process of their own, however that process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from scoring.core.embeddings import child_process
from scoring.core.embeddings.child_process import EmbeddingProcess
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.embeddings.local import DEFAULT_MODEL, get_model
from tests.support.tiny_model import STAY, put_tiny_model, stays_with
from tests.support.waiting import DEADLINE_SECONDS, wait_until

TEXTS = ["The train leaves at noon.", "", "It departs at twelve."]


@pytest.fixture
def process() -> Iterator[EmbeddingProcess]:
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


@pytest.mark.long("a process of its own loads the model")
def test_the_vectors_are_the_models_own(minilm: str, process: EmbeddingProcess) -> None:
    rows, is_cut = process.compute(minilm, TEXTS)
    expected, is_cut_here = get_model(minilm).compute(TEXTS)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert is_cut == is_cut_here


def test_a_process_killed_within_a_batch_costs_none(
    process: EmbeddingProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(put_tiny_model(tmp_path))
    expected, _ = process.compute(DEFAULT_MODEL, TEXTS)
    first = process.process_id
    with ThreadPoolExecutor() as asking:
        batch = asking.submit(process.compute, DEFAULT_MODEL, [*TEXTS, STAY])
        wait_until(lambda: stays_with(tmp_path))
        kill(process)
        rows, _ = batch.result(DEADLINE_SECONDS)
    assert len(rows) == 4
    np.testing.assert_allclose(rows[:3], expected, atol=1e-6)
    assert process.process_id != first


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


@pytest.mark.long("two processes start one after the other")
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
