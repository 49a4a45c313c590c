from __future__ import annotations

import os

from scoring.engine.processes.process_pool import InlineExecutor, ProcessPool


def test_a_pool_works_again_after_its_processes_have_ended() -> None:
    with ProcessPool(1) as pool:
        assert pool.submit(abs, -1).result() == 1
        pool.restart()
        assert pool.process_ids() == []
        assert pool.submit(abs, -2).result() == 2


def test_closing_ends_the_processes_whatever_they_do() -> None:
    pool = ProcessPool(1)
    assert pool.submit(abs, -1).result() == 1
    (pid,) = pool.process_ids()
    pool.close()
    assert not os.path.exists(f"/proc/{pid}")
    pool.close()


def test_inline_a_future_carries_the_result_or_the_fault() -> None:
    assert InlineExecutor().submit(abs, -1).result() == 1
    assert isinstance(InlineExecutor().submit(int, "x").exception(), ValueError)
