"""The guide's example does what it says, against a real server."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from scoring.core.files.writers import Fields, jsonl_lines
from scoring.models import Dataset, OutputSetState, Run, Token, User
from tests.support.fixtures.runs import finish
from tests.support.paths import ROOT

GUIDE = (ROOT / "docs" / "api.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def first_block(
    transactional_db: None, live_server: LiveServer, alice: User, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The names the first block leaves behind; a worker scores while it waits."""
    secret = Token.objects.issue(alice.memberships.get().team, alice, "guide")[1]
    code = BLOCKS[0].replace("http://127.0.0.1:8000", live_server.url).replace("evs_…", secret)
    assert code != BLOCKS[0]
    monkeypatch.setattr(time, "sleep", lambda _: finish(Run.objects.get()))
    names: dict[str, Any] = {}
    exec(compile(code, "docs/api.md", "exec"), names)
    return names


def test_a_run_is_made_and_followed_to_its_end(
    first_block: dict[str, Any], live_server: LiveServer
) -> None:
    state = first_block["state"]
    assert state["state"] == "finished"
    assert sum(state["verdicts"].values()) == 2
    assert state["verdicts"]["pass"] == 2
    assert first_block["run"]["url"].startswith(live_server.url)
    assert state["progress"] == {"done": 2, "total": 2}


def test_outputs_come_in_parts_and_a_dataset_as_a_file(
    first_block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SPOOL_DIR = tmp_path
    (tmp_path / "answers.csv").write_text("id,question\nq1,What?\n")
    monkeypatch.chdir(tmp_path)
    parts = [[{"key": "q1", "output": "a"}], [{"key": "q2", "output": "b"}]]
    names = first_block | {"parts": parts}
    for block in BLOCKS[1:3]:
        exec(compile(block, "docs/api.md", "exec"), names)
    run = Run.objects.get(uuid=names["run"]["id"])
    assert (run.output_set.state, run.output_set.output_count) == (OutputSetState.READY, 2)
    assert names["answer"].status_code == 202
    assert Dataset.objects.filter(name="From a file").exists()


def test_a_run_makes_its_outputs(first_block: dict[str, Any]) -> None:
    names = dict(first_block)
    exec(compile(BLOCKS[3], "docs/api.md", "exec"), names)
    run = Run.objects.get(uuid=names["run"]["id"])
    assert (run.output_set.state, run.budget_usd) == (OutputSetState.GENERATING, 2.5)
    made = run.output_set.generation
    assert (made.model, made.trials) == ("gpt-4o-mini", 3)
    assert made.template.endswith("\n\n{{ input }}")


def test_results_and_cases_come_as_files(first_block: dict[str, Any]) -> None:
    names = dict(first_block)
    exec(compile(BLOCKS[4], "docs/api.md", "exec"), names)
    assert [row["output"] for row in names["passed"]] == [
        "Go to Settings, then Security.",
        "Under Billing.",
    ]
    assert [case["key"] for case in names["cases"]] == ["q1", "q2"]


def test_a_file_that_was_cut_is_noticed(
    first_block: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = dict(first_block)
    exec(compile(BLOCKS[4], "docs/api.md", "exec"), names)
    monkeypatch.setattr("scoring.engine.export.formats.jsonl_lines", _cut)
    with pytest.raises(SystemExit, match="The file was cut"):
        names["exported"](f"runs/{names['run']['id']}/export/")


def _cut(rows: Iterable[Fields]) -> Iterator[bytes]:
    """Nothing but the first of the lines."""
    return islice(jsonl_lines(rows), 1)
