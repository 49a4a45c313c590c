from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import LazySettings

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, ServiceError
from scoring.engine.tryout import queue, tryout
from tests.support.paths import ROOT

CASES = [Case("Hello World!", "Hello World", id="a"), Case("no", None), Case("", "", failure="x")]


@pytest.fixture(autouse=True, scope="module")
def _no_helper_left() -> Iterator[None]:
    yield
    tryout.close_helper()


@pytest.fixture
def own_helper() -> Iterator[None]:
    """The test begins without a helper, and leaves none with its settings."""
    tryout.close_helper()
    yield
    tryout.close_helper()


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
    assert tryout.score(kind, config, threshold, CASES) == configure_scorer(
        kind, config, threshold
    ).score(CASES)


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


@pytest.mark.usefixtures("own_helper")
def test_what_takes_too_long_is_killed_and_replaced(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EVALSITE_SCORERS = ["tests.engine.odd_scorers.slow"]
    tryout.score("exact_match", {}, None, CASES)
    first = helper_pid()
    with monkeypatch.context() as impatient:
        impatient.setattr(tryout, "TIMEOUT_SECONDS", 0.3)
        with pytest.raises(ServiceError, match=r"longer than 0\.3 seconds") as caught:
            tryout.score("slow", {}, None, [Case("x")])
    assert caught.value.retry
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert tryout.score("exact_match", {}, None, [Case("a", "a")])[0].score == 1.0
    assert helper_pid() != first


def test_threads_get_their_own_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_CALLERS", 8)
    monkeypatch.setattr(queue, "WAIT_SECONDS", 60)

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
            tryout.close_helper()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        theirs = int(told.read())
    os.waitpid(child, 0)
    assert theirs != ours
    tryout.score("exact_match", {}, None, CASES)
    assert helper_pid() == ours


def printed_by(code: str) -> str:
    """What a process prints that scores a case, and then runs the code."""
    start = (
        "import os, sys, django; django.setup()\n"
        "from scoring.engine.tryout import tryout\n"
        "from scoring.core.contract import Case\n"
        "tryout.score('exact_match', {}, None, [Case('a', 'a')])\n"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    command = [sys.executable, "-c", start + code]
    process = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, stdout=subprocess.PIPE, text=True
    )
    return process.stdout


def test_the_web_process_imports_no_scorer() -> None:
    code = (
        "tryout.close_helper()\n"
        "print([m for m in ('numpy', 'scipy', 'rapidfuzz', 're2', 'pydantic') if m in sys.modules])"
    )
    assert printed_by(code).strip() == "[]"
