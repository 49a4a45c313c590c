from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.engine.processes.supervisor import HEALTHY_SECONDS, MAX_FAILURES, Child
from tests.support.waiting import DEADLINE_SECONDS


class Ended:
    """A process that has just ended."""

    returncode = 3

    def poll(self) -> int:
        return self.returncode


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return clock


def child(monkeypatch: pytest.MonkeyPatch, *, is_essential: bool = True) -> Child:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: Ended())
    made = Child("web server", [sys.executable], Path(), is_essential=is_essential)
    made.look_after()
    assert made.process is not None
    return made


def pause_after(made: Child, now: list[float], lived: float) -> float:
    """Seconds until the child, which lived so long, is started again."""
    now[0] += lived
    made.look_after()
    assert made.process is None
    pause = made.due_at - now[0]
    now[0] = made.due_at - 0.001
    made.look_after()
    assert made.process is None or not pause
    now[0] = made.due_at
    made.look_after()
    assert made.process is not None
    return pause


def test_pauses_grow_while_a_child_keeps_failing(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    made = child(monkeypatch)
    pauses = [pause_after(made, now, HEALTHY_SECONDS) for _ in range(6)]
    assert pauses == pytest.approx([1, 3, 7, 15, 30, 30])
    assert pause_after(made, now, HEALTHY_SECONDS + 1) == 0
    assert made.failures == 0


def test_only_an_essential_child_is_given_up(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    web, worker = child(monkeypatch), child(monkeypatch, is_essential=False)
    for count in range(1, MAX_FAILURES + 1):
        for made in (web, worker):
            pause_after(made, now, 0)
        assert web.is_hopeless is (count == MAX_FAILURES)
    assert not worker.is_hopeless


@pytest.mark.parametrize(("ignored", "code"), [("", -signal.SIGTERM), ("1", -signal.SIGKILL)])
def test_a_child_that_does_not_end_in_time_is_killed(ignored: str, code: int) -> None:
    program = f"""
import signal, sys, time
if {ignored!r}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""
    made = Child("stubborn", [sys.executable, "-c", program], Path.cwd())
    with subprocess.Popen(
        made.command, stdout=subprocess.PIPE, process_group=0, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        made.process = process  # type: ignore[assignment]
        made.stop(0.5 if ignored else DEADLINE_SECONDS)
        assert process.returncode == code
    made.stop(0)  # there is none any more
