"""The process that scores what is tried out: replaced when it dies, and gone with its parent."""

from __future__ import annotations

import os
import signal

import pytest
from django.conf import LazySettings

from scoring.core.contract import Case, ServiceError
from scoring.engine.tryout import tryout
from tests.engine.tryout.test_tryout import (
    CASES,
    _no_helper_left,
    helper_pid,
    own_helper,
    printed_by,
)
from tests.support.waiting import wait_until

__all__ = ["_no_helper_left", "own_helper"]


def test_a_helper_that_died_is_replaced() -> None:
    tryout.score("exact_match", {}, None, CASES)
    first = helper_pid()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: tryout._helper is not None and not tryout._helper.is_alive)
    assert tryout.score("exact_match", {}, None, [Case("a", "a")])[0].score == 1.0
    assert helper_pid() != first


@pytest.mark.usefixtures("own_helper")
def test_a_scorer_that_kills_the_helper_is_a_service_error(settings: LazySettings) -> None:
    settings.EVALSITE_SCORERS = ["tests.engine.odd_scorers.crash_on"]
    with pytest.raises(ServiceError, match="ended; try again"):
        tryout.score("crash_on", {}, None, [Case("boom")])
    assert tryout.score("crash_on", {}, None, [Case("fine")])[0].verdict == "pass"


def test_the_helper_ends_with_its_process() -> None:
    code = "print(tryout._helper._process.pid, flush=True); os._exit(9)"
    pid = int(printed_by(code))

    def is_gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(is_gone)
