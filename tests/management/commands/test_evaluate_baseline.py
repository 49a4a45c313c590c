"""`manage.py evaluate --baseline`: how far a gate on regressions can be gone by, and what warns."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from scoring.engine.judges import automatic_checks
from scoring.models import (
    Baseline,
    Dataset,
    DatasetVersion,
    OutputSet,
    Run,
    Scorer,
    Suite,
    User,
    Waiver,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.management.commands.test_evaluate import Ended, evaluate
from tests.support.fixtures.runs import MakeScorer
from tests.support.fixtures.spy import Spy
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db

CASES = 20
GATE = "--gate=regressions<=0"
Week = Callable[..., Ended]


@pytest.fixture
def suite(make_scorer: MakeScorer, spy: Spy) -> Suite:
    spy_scorer = make_scorer("spy", "close enough")
    return Suite.objects.define(spy_scorer.team, "release", [(spy_scorer, None)])


@pytest.fixture
def version(make_dataset: MakeDataset, suite: Suite) -> DatasetVersion:
    made = make_dataset([{"key": f"q{n}"} for n in range(CASES)])
    Dataset.objects.update(suite=suite)
    return made


@pytest.fixture
def week(version: DatasetVersion, make_outputs: MakeOutputs) -> Week:
    """Evaluates outputs of the next week: the texts given, 1 for all other cases."""

    def evaluate_week(name: str, *more: str, texts: Sequence[str] = (), without: int = 0) -> Ended:
        outputs = make_outputs(version, [*texts, *["1"] * (CASES - len(texts))], series="gpt")
        outputs.outputs.filter(case__position__gt=CASES - without).delete()
        OutputSet.objects.filter(pk=outputs.pk).update(output_count=CASES - without)
        return evaluate("Answers", "--name", name, *more)

    return evaluate_week


@pytest.mark.parametrize("baseline", ["auto", "w1"])
@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({"texts": ["error"] * 12}, {}, "12 of 20 cases (12 with an error or a skip)"),
        ({"texts": ["skip"] * 2}, {}, "2 of 20 cases (2 with an error or a skip)"),
        ({"without": 15}, {}, "15 of 20 cases (15 with an output in one run only)"),
        ({}, {"without": 15}, "15 of 20 cases (15 with an output in one run only)"),
    ],
)
def test_runs_that_say_little_of_each_other_leave_the_gate_undecided(
    week: Week, baseline: str, before: dict[str, object], after: dict[str, object], why: str
) -> None:
    week("w1", **before)
    ended = week("w2", f"--baseline={baseline}", GATE, **after)
    assert (ended.code, ended.err) == (1, "not met: regressions<=0")
    note = f"nothing can be said of {why}"
    assert f"baseline w1: 0 regressions; {note}\n" in ended.out
    assert f"gate regressions<=0 (0) undecided: {note}, over 0.05\n" in ended.out


def test_a_pinned_baseline_of_errors_is_no_measure_either(week: Week) -> None:
    week("w1")
    Baseline.objects.pin(Run.objects.get(), by=None)
    Run.objects.get().verdicts.filter(position__lte=2).update(verdict=2)
    week("w2")
    ended = week("w3", "--baseline=auto", GATE)
    assert (ended.code, "baseline w1: 0 regressions; nothing can be said of 2" in ended.out) == (
        1,
        True,
    )


def test_few_such_cases_are_told_and_decide_nothing(week: Week) -> None:
    week("w1", texts=["error"])
    passed = week("w2", "--baseline=w1", GATE)
    note = "nothing can be said of 1 of 20 cases (1 with an error or a skip)"
    assert (passed.code, f"gate regressions<=0 (0) passed: {note}\n" in passed.out) == (0, True)
    failed = week("w3", "--baseline=w1", GATE, texts=["1", "0"])
    assert (failed.code, f"gate regressions<=0 (1) failed: {note}\n" in failed.out) == (1, True)
    allowed = week("w4", "--baseline=w1", GATE, "--max-errors=0.5", without=9)
    assert (allowed.code, "passed: nothing can be said of 10 of 20" in allowed.out) == (0, True)


def test_json_markdown_and_junit_say_it_too(week: Week, tmp_path: Path) -> None:
    junit, markdown = tmp_path / "junit.xml", tmp_path / "table.md"
    week("w1", texts=["error"])
    asked = "--baseline=w1", GATE, f"--junit={junit}", f"--markdown={markdown}"
    ended = week("w2", *asked, "--json", without=3)
    found = json.loads(ended.out)
    note = (
        "nothing can be said of 4 of 20 cases "
        "(1 with an error or a skip, 3 with an output in one run only)"
    )
    assert (ended.code, found["regressions"]) == (1, 0)
    assert found["regressions_unknown"] == {
        "unknown": 4,
        "of": 20,
        "unclear": 1,
        "only_in_one_run": 3,
    }
    (gate,) = found["gates"]
    assert (gate["state"], gate["why"]) == ("undecided", f"{note}, over 0.05")
    warning = "The run w2 covers 17 of 20 cases of its dataset version."
    assert found["warnings"] == [warning]
    lines = markdown.read_text().splitlines()
    assert f"- baseline w1: 0 regressions; {note}" in lines
    assert f"- note: {warning}" in lines
    assert f"- gate regressions<=0 (0) undecided: {note}, over 0.05" in lines
    suite = ET.parse(junit).getroot()
    assert [(each.get("name"), each.get("value")) for each in suite.iter("property")] == [
        ("baseline", "w1"),
        ("regressions", f"0 regressions; {note}"),
        ("note", warning),
    ]
    gate, *cases = suite.iter("testcase")
    message = f"gate regressions<=0 (0) undecided: {note}, over 0.05"
    assert (gate.get("name"), gate[0].tag, gate[0].get("message")) == (
        "regressions<=0",
        "error",
        message,
    )
    assert len(cases) == 20
    assert sum(case.find("skipped") is not None for case in cases) == 3


def test_without_a_baseline_there_is_nothing_to_tell(week: Week) -> None:
    found = json.loads(week("w1", "--json").out)
    assert (found["regressions_unknown"], found["warnings"]) == (None, [])


def test_what_makes_the_runs_less_alike_is_noted_and_fails_no_gate(week: Week) -> None:
    week("w1")
    assert "note:" not in week("w2", "--baseline=auto", GATE).out
    Scorer.objects.get().revise({"label": "new"}, by=None)
    Suite.objects.get().entries.get().change_threshold(0.6, by=None, reason="stricter")
    ended = week("w3", "--baseline=auto", GATE)
    assert ended.code == 0
    notes = [line for line in ended.out.splitlines() if line.startswith("note: ")]
    assert [note.split(",")[0] for note in notes] == [
        "note: close enough: version 1 and version 2 scored the runs",
        "note: close enough: the threshold was 0.5 and then 0.6",
    ]
    assert "note:" not in week("w4").out


def test_another_dataset_version_is_noted(
    week: Week, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    week("w1")
    newer = make_dataset([{"key": f"q{n}", "input": "other words"} for n in range(CASES)])
    make_outputs(newer, ["1"] * CASES, series="gpt")
    ended = evaluate("Answers", "--baseline=auto", GATE)
    assert (ended.code, "note: The runs are over versions v1 and v2" in ended.out) == (0, True)


def test_the_tested_gate_stands_in_exit_code_junit_and_json(week: Week, tmp_path: Path) -> None:
    junit, gate = tmp_path / "junit.xml", "--gate=no_regression"
    first = week("w1", "--baseline=auto", gate)
    assert (first.code, "gate no_regression passed: there is no earlier run" in first.out) == (
        0,
        True,
    )
    few = week("w2", "--baseline=w1", gate, "--json", texts=["0"])
    (told,) = json.loads(few.out)["gates"]
    assert (few.code, told["state"], told["value"]) == (1, "undecided", 1.0)
    many = week("w3", "--baseline=w1", gate, f"--junit={junit}", texts=["0"] * 6)
    power = "power 4 % for a drop of 0.1, 80 % for 0.599"
    line = f"gate no_regression (p = 0.031) failed: 6 broke, 0 fixed; {power}"
    assert (many.code, many.err, f"{line}\n" in many.out) == (1, "not met: no_regression", True)
    test = next(ET.parse(junit).getroot().iter("testcase"))
    assert (test.get("name"), test[0].tag, test[0].get("message")) == (
        "no_regression",
        "failure",
        line,
    )
    same = week("w4", "--baseline=w1", gate, texts=[])
    assert (same.code, "power 3 % for a drop of 0.1" in same.out) == (1, True), same.out
    assert week("w5", "--baseline=w1", gate, "--min-drop=0.5", texts=[]).code == 0


def test_judges_are_checked_where_the_gate_needs_their_noise(
    week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def check_now(run: Run) -> list[str]:
        asked.append(run.name)
        return ["the noise of tone is not known: no answer"]

    monkeypatch.setattr(automatic_checks, "check_now", check_now)
    week("w1", "--baseline=auto", "--gate=no_regression")  # there is no baseline yet
    week("w2", "--baseline=auto", GATE)
    ended = week("w3", "--baseline=auto", "--gate=no_regression")
    assert asked == ["w3"]
    assert "the noise of tone is not known: no answer" in ended.err


def test_a_waiver_turns_the_gate_until_its_date(week: Week, alice: User, tmp_path: Path) -> None:
    week("w1")
    broken = ("--baseline=auto", GATE, f"--junit={tmp_path / 'junit.xml'}")
    Baseline.objects.pin(Run.objects.get(), by=None)
    assert week("w2", *broken, texts=["0"]).code == 1
    waiver = waive(Run.objects.get(name="w2"), "q0", "close enough", alice)
    ended = week("w3", *broken, texts=["0"])
    assert ended.code == 0
    assert "baseline w1: 0 regressions; 1 waived\n" in ended.out
    assert (
        f"waived: q0: close enough until {waiver.until.isoformat()} (alice@example.org:"
        in ended.out
    )
    assert "gate regressions<=0 (0) passed: 1 waived\n" in ended.out
    properties = ET.parse(tmp_path / "junit.xml").getroot().iter("property")
    assert "waiver" in {each.get("name") for each in properties}
    Waiver.objects.update(until=timezone.localdate() - timedelta(days=1))
    ended = week("w4", *broken, "--json", texts=["0"])
    assert ended.code == 1
    found = json.loads(ended.out)
    assert (found["regressions"], found["broke"], found["waivers"]["used"]) == (1, 1, [])
    assert [case["key"] for case in found["waivers"]["expired"]] == ["q0"]


def test_a_case_fails_by_more_than_is_waived(week: Week, alice: User) -> None:
    week("w1")
    waive(Run.objects.get(), "q0", "close enough", alice)
    ended = week("w2", "--baseline=auto", GATE, texts=["0", "0"])
    assert (ended.code, "(1) failed: 1 waived" in ended.out) == (1, True)
