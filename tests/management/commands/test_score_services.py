"""`manage.py score` with scorers that ask the endpoint of the environment; no database."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from scoring.core import local_services
from scoring.core.embeddings import local as embedding_local
from scoring.core.embeddings.errors import MISSING
from tests.stub import Stub
from tests.stub.wire import verdict

TO_JUDGE = [{"id": n, "output": "Paris", "expected": "Paris"} for n in range(3)]
TO_JUDGE.append({"id": 3, "output": "Rome"})
TO_EMBED = [{"output": "Paris", "references": ["It rains.", "Paris"]}, {"output": "Paris"}]
JUDGE, EMBED = ("factuality", {"model": "stub-1"}, TO_JUDGE), ("reference_match", {}, TO_EMBED)

Score = Callable[[str, dict[str, Any], Sequence[object]], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def no_endpoint(settings: Settings) -> Iterator[None]:
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    yield
    local_services.configure_local_services(None)


@pytest.fixture
def score(tmp_path: Path) -> Score:
    def run(scorer: str, config: dict[str, Any], rows: Sequence[object]) -> list[dict[str, Any]]:
        path, out = tmp_path / "cases.jsonl", StringIO()
        path.write_text("\n".join(map(json.dumps, rows)))
        call_command("score", str(path), scorer=scorer, config=json.dumps(config), stdout=out)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    return run


def test_the_endpoint_of_the_environment_judges(
    score: Score, stub: Stub, settings: Settings
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = "sk-right"
    settings.EVALSITE_OPENAI_BASE_URL = stub.play("always-same", verdict("C"))
    lines = score(*JUDGE)
    assert [line["score"] for line in lines] == [1.0, 1.0, 1.0, 0.0]
    assert lines[3]["reason"] == "no expected output"
    (asked,) = stub.asked("always-same")  # equal cases are asked once
    assert asked.headers["authorization"] == "Bearer sk-right"


def test_the_endpoint_of_the_environment_embeds_once(
    score: Score, stub: Stub, settings: Settings
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = "sk-1"
    settings.EVALSITE_OPENAI_BASE_URL = stub.url("ok")
    first, missing = score(*EMBED)
    assert (first["score"], first["metadata"]["winner"]) == (1.0, 2)
    assert first["metadata"]["model"] == "text-embedding-3-small"
    assert missing["metadata"]["code"] == "expected_missing"
    (asked,) = stub.requests
    assert asked.body["input"] == ["Paris", "It rains."]
    assert asked.headers["authorization"] == "Bearer sk-1"


def test_without_an_endpoint_every_case_says_what_to_set(score: Score) -> None:
    lines = score(*JUDGE)
    assert [line["status"] for line in lines] == ["error"] * 3 + ["scored"]
    assert "OPENAI_API_KEY" in lines[0]["reason"]
    first, missing = score("reference_match", {"embedding_provider": "openai"}, TO_EMBED)
    assert (first["status"], first["metadata"]["code"]) == ("error", "no_key")
    assert "OPENAI_API_KEY" in first["reason"]
    assert missing["status"] == "scored"


def test_without_the_extra_the_command_that_installs_it_is_named(
    score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedding_local._load_model.cache_clear()
    first, missing = score(*EMBED)
    assert (first["status"], first["metadata"]["code"]) == ("error", "embeddings_missing")
    assert first["reason"] == MISSING
    assert missing["verdict"] == "fail"
