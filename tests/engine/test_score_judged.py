"""`manage.py score` with a judge: the endpoint of the environment, no database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from scoring.core import standalone
from tests.stub import Stub
from tests.stub.wire import verdict

ROWS = [{"id": n, "output": "Paris", "expected": "Paris"} for n in range(3)] + [
    {"id": 3, "output": "Rome"}
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def _scored(path: Path) -> list[dict[str, object]]:
    out = io.StringIO()
    try:
        call_command(
            "score", str(path), scorer="factuality", config='{"model": "stub-1"}', stdout=out
        )
    finally:
        standalone.configure(None)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_endpoint_of_the_environment_judges(
    cases: Path, stub: Stub, settings: Settings
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = "sk-right"
    settings.EVALSITE_OPENAI_BASE_URL = stub.play("always-same", verdict("C"))
    lines = _scored(cases)
    assert [line["score"] for line in lines] == [1.0, 1.0, 1.0, 0.0]
    assert lines[3]["reason"] == "no expected output"
    (asked,) = stub.asked("always-same")  # equal cases are asked once
    assert asked.headers["authorization"] == "Bearer sk-right"


def test_without_an_endpoint_every_case_says_what_to_set(cases: Path, settings: Settings) -> None:
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    lines = _scored(cases)
    assert [line["status"] for line in lines] == ["error"] * 3 + ["scored"]
    assert "OPENAI_API_KEY" in str(lines[0]["reason"])
