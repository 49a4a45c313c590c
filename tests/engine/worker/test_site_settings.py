"""What workers of a site compare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django.fixtures import Settings

from scoring.engine.jobs import lease
from scoring.engine.worker import site_settings
from scoring.engine.worker.main import record_heartbeat
from scoring.engine.worker.site_settings import (
    Difference,
    compare_workers,
    describe_settings,
    find_differences,
)
from scoring.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def described_anew() -> Iterator[None]:
    describe_settings.cache_clear()
    yield
    describe_settings.cache_clear()


def add_worker(**changes: str | None) -> Worker:
    """Another one that lives; what is None it does not have."""
    own = describe_settings() | changes
    kept = {name: value for name, value in own.items() if value is not None}
    return Worker.objects.create(name="elsewhere:1", started_at=Now(), seen_at=Now(), settings=kept)


def test_equal_workers_have_nothing_to_say() -> None:
    add_worker()
    record_heartbeat()
    assert find_differences() == []
    assert Worker.objects.get(name=lease.own_name()).settings == describe_settings()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"EVALSITE_MODEL_HOSTS": "models.lan"},
            "EVALSITE_MODEL_HOSTS is empty here, models.lan at the worker elsewhere:1",
        ),
        (
            {"the package torch": "missing"},
            "the package torch is {torch} here, missing at the worker elsewhere:1",
        ),
        (
            {"EVALSITE_ENCRYPTION_KEY": "0" * 12},
            "EVALSITE_ENCRYPTION_KEY is another here than at the worker elsewhere:1",
        ),
        (
            {"the code of Evalsite": "0" * 12},
            "the code of Evalsite is another here than at the worker elsewhere:1",
        ),
        (
            {"the scorer tone": "tone:score 1.0"},
            "the scorer tone is missing here, tone:score 1.0 at the worker elsewhere:1",
        ),
        ({"Python": None}, "Python is {Python} here, missing at the worker elsewhere:1"),
    ],
)
def test_what_differs_is_said(changes: dict[str, Any], said: str) -> None:
    add_worker(**changes)
    own = describe_settings()
    values = {"torch": own["the package torch"], "Python": own["Python"]}
    assert find_differences() == [said.format(**values)]


def test_what_several_workers_have_otherwise_is_listed_once() -> None:
    workers = [
        Worker(name=name, settings={"Python": python, "EVALSITE_URL": ""} | more)
        for name, python, more in (
            ("a:1", "3.11.7", {}),
            ("b:1", "3.12.1", {"the scorer tone": "1.0"}),
            ("c:1", "3.11.7", {}),
        )
    ]
    workers.append(Worker(name="of an older version:1"))
    assert compare_workers(workers) == [
        Difference("Python", [("3.11.7", ["a:1", "c:1"]), ("3.12.1", ["b:1"])]),
        Difference("the scorer tone", [("missing", ["a:1", "c:1"]), ("1.0", ["b:1"])]),
    ]


def test_a_worker_that_ended_or_said_nothing_is_not_compared() -> None:
    Worker.objects.create(name="old:1", started_at=Now(), seen_at=Now())
    gone = add_worker(EVALSITE_URL="https://evals.example.org")
    assert len(find_differences()) == 1
    gone.delete()
    assert find_differences() == []


def test_a_worker_that_starts_says_it_once(caplog: pytest.LogCaptureFixture) -> None:
    add_worker(EVALSITE_URL="https://evals.example.org")
    record_heartbeat()
    record_heartbeat()
    (line,) = caplog.messages
    assert line.startswith("workers differ: EVALSITE_URL is empty here, https://evals.example.org")


def test_lists_are_compared_without_their_order(settings: Settings) -> None:
    settings.EVALSITE_MODEL_HOSTS = frozenset("hgfedcba")
    assert describe_settings()["EVALSITE_MODEL_HOSTS"] == "a, b, c, d, e, f, g, h"


def test_a_storage_is_told_by_its_place(settings: Settings) -> None:
    options = {"bucket_name": "evals", "location": "site", "client_config": object()}
    settings.STORAGES = {**settings.STORAGES, "uploads": {"BACKEND": "any", "OPTIONS": options}}
    assert describe_settings()["EVALSITE_UPLOADS"] == "evals/site"


def test_secrets_are_not_told(settings: Settings) -> None:
    settings.EVALSITE_OPENAI_API_KEY = "sk-very-secret"
    told = describe_settings()
    assert len(told["OPENAI_API_KEY"]) == 12
    for secret in (settings.SECRET_KEY, settings.EVALSITE_ENCRYPTION_KEY, "sk-very-secret"):
        assert not any(secret in value for value in told.values())


def test_custom_scorers_are_told_by_their_code(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "house_tone.py").write_text("def polite(output):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings.EVALSITE_SCORERS = ["house_tone.polite"]
    before = describe_settings()["the code of house_tone.polite"]
    (tmp_path / "house_tone.py").write_text("def polite(output):\n    return 0.5\n")
    describe_settings.cache_clear()
    assert describe_settings()["the code of house_tone.polite"] != before


def test_the_code_is_that_of_every_module(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text("1")
    before = site_settings._code_digest(tmp_path)
    (tmp_path / "core" / "notes.txt").write_text("no code")
    assert site_settings._code_digest(tmp_path) == before
    (tmp_path / "core" / "a.py").write_text("2")
    assert site_settings._code_digest(tmp_path) != before
