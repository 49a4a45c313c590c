from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.db import DatabaseError, connection

from scoring.engine.jobs.isolation import is_unwritable
from scoring.engine.processes.process_pool import InlineExecutor, ProcessPool
from tests.support.paths import ROOT


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("forks", [False, True])
def test_a_pool_works_again_after_its_processes_have_ended(*, forks: bool) -> None:
    with ProcessPool(1, forks=forks) as pool:
        assert pool.submit(abs, -1).result() == 1
        pool.restart()
        assert pool.process_ids() == []
        assert pool.submit(abs, -2).result() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("forks", [False, True])
def test_closing_ends_the_processes_whatever_they_do(*, forks: bool) -> None:
    pool = ProcessPool(1, forks=forks)
    assert pool.submit(abs, -1).result() == 1
    (pid,) = pool.process_ids()
    pool.close()
    assert not os.path.exists(f"/proc/{pid}")
    pool.close()


#: Works in two copies of itself, says which they are and is killed.
KILLED = """
import os, time, django
django.setup()
from scoring.engine.processes.process_pool import ProcessPool
pool = ProcessPool(2, forks=True)
for _ in range(2):
    pool.submit(time.sleep, 600)
print(*pool.process_ids(), flush=True)
os.kill(os.getpid(), 9)
"""


def test_copies_end_with_the_process_that_they_are_copies_of(tmp_path: Path) -> None:
    environment = {**os.environ, "EVALSITE_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    copies = done.stdout.split()
    assert (done.returncode, len(copies)) == (-9, 2)
    deadline = time.monotonic() + 60
    while any(map(is_running, copies)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: str) -> bool:
    """Whether it is there and no zombie, which nobody may have waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_inline_a_future_carries_the_result_or_the_fault() -> None:
    assert InlineExecutor().submit(abs, -1).result() == 1
    assert isinstance(InlineExecutor().submit(int, "x").exception(), ValueError)


def ask_for_too_many_columns() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(['1'] * 2_500)}")


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_no_database_would_do_is_told_from_one_out_of_reach() -> None:
    """Also by what comes back from another process, or it would be tried for ever."""
    with pytest.raises(DatabaseError) as here:
        ask_for_too_many_columns()
    with ProcessPool(1) as pool, pytest.raises(DatabaseError) as there:
        pool.submit(ask_for_too_many_columns).result()
    assert not is_unwritable(here.value)
    assert not is_unwritable(there.value)
