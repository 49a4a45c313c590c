from __future__ import annotations

import os

from scoring.engine.processes.process_pool import Inline, Pool


def test_a_pool_works_again_after_its_processes_have_ended() -> None:
    with Pool(1) as pool:
        assert pool.submit(abs, -1).result() == 1
        pool.restart()
        assert pool.process_ids() == []
        assert pool.submit(abs, -2).result() == 2


def test_closing_ends_the_processes_whatever_they_do() -> None:
    pool = Pool(1)
    assert pool.submit(abs, -1).result() == 1
    (pid,) = pool.process_ids()
    pool.close()
    assert not os.path.exists(f"/proc/{pid}")
    pool.close()


def test_inline_a_future_carries_the_result_or_the_fault() -> None:
    assert Inline().submit(abs, -1).result() == 1
    assert isinstance(Inline().submit(int, "x").exception(), ValueError)
