"""`manage.py score --scorer reference_match`: who makes the vectors, and what is said if nobody."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scoring.core import standalone
from scoring.core.embed import local
from scoring.core.embed.faults import MISSING
from tests.stub import Stub

CASES = [
    {"output": "Paris", "references": ["It rains.", "Paris"]},
    {"output": "Paris"},
]


@pytest.fixture(autouse=True)
def fresh(settings: Any) -> Iterator[None]:
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    yield
    standalone.configure(None)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in CASES))
    return path


def scored(path: Path, config: dict[str, Any]) -> list[dict[str, Any]]:
    out = StringIO()
    words = ("--scorer", "reference_match", "--config", json.dumps(config))
    call_command("score", str(path), *words, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_endpoint_of_the_environment_is_asked_once(
    cases: Path, settings: Any, stub: Stub
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = "sk-1"
    settings.EVALSITE_OPENAI_BASE_URL = stub.url("ok")
    first, missing = scored(cases, {})
    assert (first["score"], first["metadata"]["winner"]) == (1.0, 2)
    assert first["metadata"]["model"] == "text-embedding-3-small"
    assert missing["metadata"]["code"] == "expected_missing"
    (asked,) = stub.requests
    assert asked.body["input"] == ["Paris", "It rains."]
    assert asked.headers["authorization"] == "Bearer sk-1"


def test_without_a_key_an_endpoint_cannot_be_asked(cases: Path) -> None:
    first, missing = scored(cases, {"embedding_provider": "openai"})
    assert (first["status"], first["metadata"]["code"]) == ("error", "no_key")
    assert "OPENAI_API_KEY" in first["reason"]
    assert missing["status"] == "scored"


def test_without_the_extra_the_command_that_installs_it_is_named(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    local._found.cache_clear()
    first, missing = scored(cases, {})
    assert (first["status"], first["metadata"]["code"]) == ("error", "embeddings_missing")
    assert first["reason"] == MISSING
    assert missing["verdict"] == "fail"
