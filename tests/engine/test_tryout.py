from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import LazySettings

from scoring.core.bound import bind
from scoring.core.contract import Case, ConfigError, ServiceError
from scoring.engine import tryout
from tests.engine.conftest import ROOT, wait_until

CASES = [Case("Hello World!", "Hello World", id="a"), Case("no", None), Case("", "", failure="x")]


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    tryout.close()


def helper_pid() -> int:
    assert tryout._helper is not None
    return tryout._helper._process.pid


@pytest.mark.parametrize(
    ("kind", "config", "threshold"),
    [
        ("levenshtein", {"case_sensitive": True}, 0.9),
        ("exact_match", {}, None),
        ("regex", {"pattern": "World"}, None),
    ],
)
def test_the_answers_are_those_of_the_scorer_itself(
    kind: str, config: dict[str, Any], threshold: float | None
) -> None:
    assert tryout.score(kind, config, threshold, CASES) == bind(kind, config, threshold).score(
        CASES
    )


def test_one_process_serves_many_questions() -> None:
    tryout.score("exact_match", {}, None, CASES)
    first = helper_pid()
    tryout.score("levenshtein", {}, None, CASES)
    assert helper_pid() == first != os.getpid()


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        ("nonsense", {}, "type"),
        ("levenshtein", {"decimals": "two"}, "decimals"),
        ("regex", {"pattern": "("}, "pattern"),
    ],
)
def test_a_bad_config_names_its_field_and_costs_no_process(
    kind: str, config: dict[str, Any], field: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        tryout.score(kind, config, None, CASES)
    assert list(caught.value.errors) == [field]
    first = helper_pid()
    assert tryout.score("exact_match", {}, None, CASES)
    assert helper_pid() == first


@pytest.mark.alone
def test_what_takes_too_long_is_killed_and_replaced(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EVALSITE_SCORERS = ["tests.engine.odd_scorers.slow"]
    monkeypatch.setattr(tryout, "LIMIT_SECONDS", 0.3)
    tryout.score("exact_match", {}, None, CASES)
    first = helper_pid()
    start = time.monotonic()
    with pytest.raises(ServiceError, match=r"longer than 0\.3 seconds") as caught:
        tryout.score("slow", {}, None, [Case("x")])
    assert caught.value.retry
    assert time.monotonic() - start < 2
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert tryout.score("exact_match", {}, None, [Case("a", "a")])[0].score == 1.0
    assert helper_pid() != first


def test_a_helper_that_died_is_replaced() -> None:
    tryout.score("exact_match", {}, None, CASES)
    first = helper_pid()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: tryout._helper is not None and not tryout._helper.is_alive)
    assert tryout.score("exact_match", {}, None, [Case("a", "a")])[0].score == 1.0
    assert helper_pid() != first


def test_a_scorer_that_kills_the_helper_is_a_service_error(settings: LazySettings) -> None:
    settings.EVALSITE_SCORERS = ["tests.engine.odd_scorers.crash_on"]
    with pytest.raises(ServiceError, match="ended; try again"):
        tryout.score("crash_on", {}, None, [Case("boom")])
    assert tryout.score("crash_on", {}, None, [Case("fine")])[0].verdict == "pass"


def test_threads_get_their_own_answers() -> None:
    def ask(number: int) -> str:
        text = str(number)
        results = tryout.score("exact_match", {}, None, [Case(text, text), Case(text, "x")])
        return "".join(str(result.verdict) for result in results)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(40))) == {"passfail"}


def test_a_forked_process_has_a_helper_of_its_own() -> None:
    tryout.score("exact_match", {}, None, CASES)
    ours = helper_pid()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            tryout.score("exact_match", {}, None, CASES)
            os.write(write, str(helper_pid()).encode())
            tryout.close()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        theirs = int(told.read())
    os.waitpid(child, 0)
    assert theirs != ours
    tryout.score("exact_match", {}, None, CASES)
    assert helper_pid() == ours


def test_the_helper_ends_with_its_process() -> None:
    code = (
        "import os, django; django.setup()\n"
        "from scoring.engine import tryout\n"
        "from scoring.core.contract import Case\n"
        "tryout.score('exact_match', {}, None, [Case('a', 'a')])\n"
        "print(tryout._helper._process.pid, flush=True); os._exit(9)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    pid = int(ended.stdout)

    def is_gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(is_gone, 5)


def test_the_web_process_imports_no_scorer() -> None:
    code = (
        "import sys, django; django.setup()\n"
        "from scoring.engine import tryout\n"
        "from scoring.core.contract import Case\n"
        "tryout.score('exact_match', {}, None, [Case('a', 'a')])\n"
        "tryout.close()\n"
        "print([m for m in ('numpy', 'scipy', 'rapidfuzz', 're2', 'pydantic') if m in sys.modules])"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ended.stdout.strip() == "[]"
