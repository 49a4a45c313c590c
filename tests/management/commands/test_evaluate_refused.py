"""`manage.py evaluate` that ends with 2 has stored nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from scoring.models import DatasetVersion, OutputSet, Run, Scorer, ScorerVersion, Suite
from tests.conftest import MakeDataset, MakeOutputs
from tests.management.commands.test_evaluate import evaluate
from tests.support.fixtures.runs import MakeScorer
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(make_dataset: MakeDataset, make_scorer: MakeScorer, spy: Spy) -> DatasetVersion:
    """A dataset of two cases, and a suite `strict` of a scorer `close`."""
    close = make_scorer("spy", "close", label="old")
    Suite.objects.define(close.team, "strict", [(close, None)])
    make_scorer("exact_match", "taken")
    return make_dataset([{"key": "q1"}, {"key": "q2"}])


@pytest.fixture
def suite_file(version: DatasetVersion, tmp_path: Path) -> Path:
    """Would make a new version of `close`, another threshold in `strict`, and a scorer `tone`."""
    return written(
        tmp_path / "strict.json",
        {"name": "close", "type": "spy", "config": {"label": "new"}, "threshold": 0.9},
        {"name": "tone", "type": "spy"},
    )


@pytest.fixture
def outputs_file(tmp_path: Path) -> Path:
    path = tmp_path / "gpt.jsonl"
    path.write_text('{"id": "q1", "output": "1"}\n{"id": "q2", "output": "1"}\n')
    return path


def written(path: Path, *scorers: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"scorers": scorers}))
    return path


def stored() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of ours."""
    models = apps.get_app_config("scoring").get_models()
    return {each.__name__: list(each._default_manager.order_by("pk").values()) for each in models}


REFUSED = {
    "gate's scorer": (["--gate=mean.other>=1"], "no such scorer; it has: close, tone"),
    "gate": (["--gate=pass_rate"], "the gate 'pass_rate' cannot be read"),
    "gate without a baseline": (["--gate=regressions<=0"], "needs --baseline RUN or --baseline"),
    "test without a baseline": (["--gate=no_regression"], "needs --baseline"),
    "share": (["--max-errors=2"], "--max-errors is a share from 0 to 1"),
    "drop": (["--min-drop=0"], "--min-drop is a share above 0, up to 1"),
    "drop that is no number": (["--min-drop=nan"], "--min-drop is a share above 0, up to 1"),
    "baseline": (["--baseline=nope"], "the dataset Answers has no finished run 'nope'"),
    "spelling of a mapping": (["--map=output"], "does not read FIELD=COLUMN"),
    "column": (["--map=output=nowhere"], "nowhere"),
    "unwritable report": (["--junit=/no/such/folder/x.xml"], "x.xml cannot be written: No such"),
}


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_leaves_scorers_and_suites_as_they_were(
    suite_file: Path, outputs_file: Path, words: list[str], said: str
) -> None:
    before = stored()
    ended = evaluate("Answers", f"--outputs={outputs_file}", f"--suite={suite_file}", *words)
    assert (ended.code, said in ended.err) == (2, True), ended.err
    assert stored() == before


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        ({"name": "taken", "type": "spy"}, "taken is a scorer of the type exact_match already"),
        ({"name": "x", "type": "llm_judge", "config": {"model": "m"}}, "rubric: is required"),
        ({"name": "x", "type": "nonesuch"}, "nonesuch"),
        ({"name": "x", "type": "spy", "threshold": 7}, "threshold"),
    ],
)
def test_a_suite_file_that_cannot_be_used_keeps_outputs_out(
    suite_file: Path, outputs_file: Path, scorer: dict[str, Any], said: str
) -> None:
    """Also where its first scorer is a good one, which would get a new version."""
    good = {"name": "close", "type": "spy", "config": {"label": "new"}}
    path, before = written(suite_file, good, scorer), stored()
    ended = evaluate("Answers", f"--outputs={outputs_file}", f"--suite={path}")
    assert (ended.code, said in ended.err) == (2, True), ended.err
    assert stored() == before


def test_a_suite_without_scorers_keeps_outputs_out(
    version: DatasetVersion, outputs_file: Path
) -> None:
    Scorer.objects.get(name="close").entries.all().delete()
    before = stored()
    ended = evaluate("Answers", f"--outputs={outputs_file}", "--suite=strict")
    assert (ended.code, ended.err) == (2, "the suite strict has no scorers; add one on its page")
    assert stored() == before


def test_a_refused_call_leaves_no_empty_report(suite_file: Path, outputs_file: Path) -> None:
    markdown, junit = suite_file.parent / "table.md", suite_file.parent / "junit.xml"
    reports = f"--markdown={markdown}", f"--junit={junit}"
    ended = evaluate("Answers", "--baseline=nope", "--suite=strict", *reports)
    assert (ended.code, markdown.exists(), junit.exists()) == (2, False, False)


def test_outputs_that_are_not_there_leave_nothing_either(
    suite_file: Path, version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    make_outputs(version, ["1", "1"], series="gpt")
    before = stored()
    assert evaluate("Answers", f"--suite={suite_file}", "--series=llama").code == 2
    assert stored() == before


def test_what_is_good_defines_the_suite_with_the_run(suite_file: Path, outputs_file: Path) -> None:
    asked = f"--outputs={outputs_file}", f"--suite={suite_file}", "--gate=mean.tone>=1"
    assert evaluate("Answers", *asked).code == 0
    assert evaluate("Answers", *asked).code == 0  # and once again changes nothing
    numbers = ScorerVersion.objects.filter(scorer__name="close").values_list("number", flat=True)
    assert sorted(numbers) == [1, 2]
    assert Suite.objects.get().entries.get(scorer__name="close").threshold == 0.9
    assert {run.suite_name for run in Run.objects.all()} == {"strict"}
    assert OutputSet.objects.exists()
