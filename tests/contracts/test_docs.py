"""The guides run: their code is executed as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.management import call_command, load_command_class

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.custom import custom_type
from scoring.core.registry import CUSTOM_TYPES, all_types, register
from scoring.engine.alerts import webhook
from tests.stub import Stub
from tests.stub.wire import verdict
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"


def blocks(name: str, language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)


@pytest.fixture
def defined(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the guide to custom scorers defines, registered for this test alone."""
    guide = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", guide)
    space = vars(guide)
    for block in blocks("custom-scorers.md"):
        exec(compile(block, "custom-scorers.md", "exec"), space)  # the guide's own code
    before = dict(CUSTOM_TYPES)
    for name in ("contains_keywords", "long_enough"):
        register(custom_type(name, space[name]))
    yield space
    CUSTOM_TYPES.clear()
    CUSTOM_TYPES.update(before)


@pytest.mark.parametrize(
    ("output", "score"), [("paris", 1 / 3), ("The CAPITAL of France", 2 / 3), ("nothing", 0.0)]
)
def test_the_keyword_scorer_counts_what_it_finds(
    defined: dict[str, Any], output: str, score: float
) -> None:
    scorer = configure_scorer("contains_keywords", {"keywords": ["paris", "france", "capital"]})
    (result,) = scorer.score([Case(output)])
    assert result.score == pytest.approx(score, abs=1e-9)


def test_the_batch_scorer_answers_in_order(defined: dict[str, Any]) -> None:
    results = configure_scorer("long_enough").score([Case("short"), Case("long enough now")])
    assert [result.score for result in results] == [0.0, 1.0]


def test_the_guides_expressions_say_the_same(defined: dict[str, Any]) -> None:
    length, keywords = re.findall(
        r"`([^`]*(?:size\(output\)|filter)[^`]*)`", (DOCS / "custom-scorers.md").read_text()
    )
    cases = [Case("short"), Case("Paris, France")]
    assert [
        r.score for r in configure_scorer("expression", {"expression": length}).score(cases)
    ] == [0.0, 1.0]
    assert [
        r.score for r in configure_scorer("expression", {"expression": keywords}).score(cases)
    ] == [
        0.0,
        1.0,
    ]


def test_every_page_the_readme_links_to_is_there() -> None:
    readme = (DOCS.parent / "README.md").read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (DOCS.parent / target).exists(), target


def test_every_decision_is_in_the_list_of_decisions() -> None:
    text = (DECISIONS / "README.md").read_text()
    listed = re.findall(r"^\| \[[^]]+\]\((\S+\.md)\)", text, re.MULTILINE)
    assert sorted([*listed, "README.md"]) == sorted(path.name for path in DECISIONS.glob("*.md"))


SOURCES = ("core/llm/*.py", "core/scorers/llm_judge.py", "engine/services/team_services.py")
STATED = re.compile(
    r'(?:CallFailure|UnusableReply)\(\s*"(\w+)"|call_problem\(target, "(\w+)"'
    r'|return "(\w+)"|^    "(\w+)",$',
    re.MULTILINE,
)


def test_every_code_of_a_judge_is_in_its_guide() -> None:
    source = "".join(
        path.read_text() for names in SOURCES for path in (DOCS.parent / "scoring").glob(names)
    )
    stated = {code for found in STATED.findall(source) for code in found if "_" in code}
    table = re.findall(r"^\| (`.*?`) \|", (DOCS / "judges.md").read_text(), re.MULTILINE)
    told = {code for cell in table for code in re.findall(r"`(\w+)`", cell)}
    assert len(told) > 15
    assert {code for code in told if f'"{code}"' not in source} == set()
    assert stated - told == set()


COMMANDS = ROOT / "scoring/management/commands"
NAMES = sorted(path.stem for path in COMMANDS.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_is_in_the_guide(name: str) -> None:
    guide = (DOCS / "commands.md").read_text()
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", guide, re.DOTALL | re.MULTILINE)
    assert section, f"docs/commands.md has no section on {name}"
    parser = load_command_class("scoring", name).create_parser("manage.py", name)
    own = {
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option not in DJANGOS_OWN
    }
    assert {option for option in own if option not in section[1]} == set()


DJANGOS_OWN = {
    "--help",
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
}


def test_the_score_example_prints_what_the_guide_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (shell, *_), (shown,) = blocks("commands.md", "sh"), blocks("commands.md", "json")
    case, config = re.findall(r"'(\{.*?\})'", shell)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(case + "\n")
        file.flush()
        call_command("score", file.name, scorer="levenshtein", config=config)
    assert capsys.readouterr().out == shown


def test_the_readme_names_every_scorer_type() -> None:
    table = (DOCS.parent / "README.md").read_text().partition("## Scorers")[2]
    named = set(re.findall(r"`(\w+)`", table.partition("Your own scorer")[0]))
    assert named == set(all_types())


def test_the_readmes_commands_run_as_they_stand(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scorer = {"name": "close enough", "type": "levenshtein", "config": {}, "threshold": 0.7}
    suite = {"name": "release", "scorers": [scorer]}
    (tmp_path / "answers.csv").write_text("id,question,expected\nq1,Where is it?,Under Billing.\n")
    (tmp_path / "gpt-4o.jsonl").write_text('{"id": "q1", "output": "Under billing"}\n')
    (tmp_path / "release.json").write_text(json.dumps(suite))
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "yes", "expected": "yes"}\n')
    readme = (DOCS.parent / "README.md").read_text().replace("\\\n", "")
    section = readme.partition("## From the command line")[2].partition("```\n")[0]
    commands = re.findall(r"^\.venv/bin/python manage\.py (.*)$", section, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["import", "evaluate", "score"]
    for command in commands:
        call_command(*shlex.split(command))
    printed = capsys.readouterr().out
    assert "gate pass_rate>=0.9 (1) passed" in printed
    assert re.search(r"^gate regressions<=0 .*passed", printed, re.MULTILINE)
    assert '"id":"a","status":"scored","score":1.0,"verdict":"pass"' in printed


def test_the_readmes_judge_asks_the_server_that_is_named(stub: Stub, tmp_path: Path) -> None:
    readme = (DOCS.parent / "README.md").read_text()
    section = readme.partition("## Use a local LLM server")[2]
    shell, url = section.partition("```sh\n")[2].partition("```\n")[0], "127.0.0.1:11434/v1"
    assert url in shell
    mine = shell.replace("http://" + url, stub.play("local", verdict("C")))
    mine = mine.replace(".venv/bin/python manage.py", f"{sys.executable} {DOCS.parent}/manage.py")
    known = {"PATH": os.environ["PATH"], "EVALSITE_DATA_DIR": str(tmp_path)}
    ended = subprocess.run(["bash", "-c", mine], env=known, capture_output=True, check=True)
    scored = json.loads(ended.stdout)
    assert (scored["id"], scored["score"], scored["verdict"]) == ("q1", 1.0, "pass")
    (asked,) = stub.asked("local")
    assert asked.body["model"] == "llama3.2"
    assert "It is Paris." in asked.user
    assert "authorization" not in asked.headers


def test_the_guide_to_alerts_tells_how_a_message_is_checked() -> None:
    """Its lines take a real signature, and no other."""
    (example,) = blocks("alerts.md", "json")
    told = json.loads(example)
    space: dict[str, Any] = {}
    for block in blocks("alerts.md"):
        exec(block, space)
    body, secret, now = example.encode(), "whsec_" + "QUJD" * 10, int(time.time())

    def is_taken(body: bytes = body, secret: str = secret, at: int = now) -> bool:
        signature = webhook.signature("whsec_" + "QUJD" * 10, told["id"], at, example.encode())
        headers = {"webhook-id": told["id"], "webhook-timestamp": str(at)}
        given = {**headers, "webhook-signature": signature}
        return bool(space["is_from_evalsite"](given, body, secret))

    assert is_taken()
    assert not is_taken(body=body + b" ")
    assert not is_taken(secret="whsec_" + "QUJE" * 10)
    assert not is_taken(at=now - 3600)
