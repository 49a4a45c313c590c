from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import pytest

from scoring.core.contract import Result, error
from scoring.engine.compare.gates import check_gate, parse_gate
from scoring.engine.reports.run_summary import Report, as_json, as_markdown, as_table, write_junit
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Run
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_run: MakeRun, make_scorer: MakeScorer, spy: Spy) -> Run:
    """Two pass, one fails, one errs, one is skipped."""
    spy.answers["hostile"] = error("down", 'said "<&>"\x07 \ud83d')
    outputs = ["1", "0.5", "0", "hostile", "skip"]
    made = make_run(outputs, make_scorer("spy", "close | enough"), name="week 46")
    finish(made)
    return made


def report_of(run: Run, *gates: str) -> Report:
    outcomes = [check_gate(parse_gate(gate), run, None, 0.5) for gate in gates]
    return Report(run, None, None, outcomes)


def test_the_table_names_every_figure(run: Run) -> None:
    text = as_table(report_of(run, "pass_rate>=0.9", "mean.close | enough>=0.5"))
    assert text.splitlines() == [
        "scorer                   mean [95 %]  pass rate  n of N  errors  threshold",
        "close | enough  0.500 [0.000, 1.000]     66.7 %  3 of 5       1        0.5",
        "",
        "cases: 2 pass, 1 fail, 1 error, 1 skipped",
        "1 of 5 cases ended in an error, over 5 %. Figures are of what was scored alone. "
        "Then retry 1 case.",
        '1 down of close | enough, such as: said "<&>" ?',
        "gate pass_rate>=0.9 (0.666667) failed",
        "gate mean.close | enough>=0.5 (0.5) passed",
    ]


def test_markdown_is_a_table_that_no_name_can_break(run: Run) -> None:
    lines = as_markdown(report_of(run)).splitlines()
    assert lines[0] == "### week 46"
    assert {line.count("|") for line in lines if line.startswith("|")} == {7}
    assert "| close &#124; enough | 0.500 [0.000, 1.000] | 66.7 % | 3 of 5 | 1 | 0.5 |" in lines
    assert "- cases: 2 pass, 1 fail, 1 error, 1 skipped" in lines


def test_json_has_the_shape_of_the_api(run: Run) -> None:
    found = json.loads(json.dumps(as_json(report_of(run, "pass_rate>=0.9")), allow_nan=False))
    assert (found["id"], found["state"]) == (str(run.uuid), "finished")
    assert found["progress"] == {"done": 5, "total": 5}
    assert found["verdicts"] == {"pass": 2, "fail": 1, "error": 1, "skipped": 1}
    (scorer,) = found["scorers"]
    assert scorer.pop("pass_rate") == pytest.approx(2 / 3)
    assert scorer == {
        "name": "close | enough",
        "version": 1,
        "n": 5,
        "scored": 3,
        "errors": 1,
        "skipped": 1,
        "mean": 0.5,
        "interval": [0.0, 1.0],
        "threshold": 0.5,
        "problems": {"down": 1, "nothing": 1},
    }
    assert (found["baseline"], found["regressions"], found["missing_expected"]) == (None, None, 0)
    (gate,) = found["gates"]
    assert (gate["gate"], gate["state"], gate["why"]) == ("pass_rate>=0.9", "failed", "")


def test_junit_has_a_test_case_per_case_and_survives_hostile_text(run: Run) -> None:
    out = io.StringIO()
    write_junit(report_of(run), out)
    suite = ET.fromstring(out.getvalue().encode())
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    names = [(case.get("name"), [child.tag for child in case]) for case in suite]
    assert names == [
        ("case-1", []),
        ("case-2", []),
        ("case-3", ["failure"]),
        ("case-4", ["error"]),
        ("case-5", ["skipped"]),
    ]
    messages = [child.get("message") for case in suite for child in case]
    assert messages[0] == "close | enough: 0 is below the threshold 0.5"
    assert messages[1] == 'close | enough: said "<&>"\ufffd ?'


def test_junit_has_a_test_case_per_gate_before_the_cases(run: Run) -> None:
    gates = [check_gate(parse_gate(f"pass_rate>={limit}"), run, None, 0.5) for limit in (0.1, 0.9)]
    undecided = check_gate(parse_gate("pass_rate>=0.1"), run, None, 0.0)
    out = io.StringIO()
    write_junit(Report(run, None, None, [*gates, undecided]), out)
    suite = ET.fromstring(out.getvalue().encode())
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["8", "2", "2", "1"]
    assert suite.find("properties") is None
    told = [(case.get("classname"), case.get("name"), [*case]) for case in suite][:4]
    assert [row[:2] for row in told] == [
        ("week 46 gates", "pass_rate>=0.1"),
        ("week 46 gates", "pass_rate>=0.9"),
        ("week 46 gates", "pass_rate>=0.1"),
        ("week 46", "case-1"),
    ]
    problems = [(each.tag, each.get("message")) for _, _, found in told for each in found]
    (failed, failed_text), (error_tag, error_text) = problems
    assert (failed, error_tag) == ("failure", "error")
    assert failed_text == f"gate pass_rate>=0.9 ({gates[1].value:.6g}) failed"
    assert error_text is not None
    assert " undecided: " in error_text


def test_junit_joins_the_reasons_of_several_scorers(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    spy.answers["x"] = Result("scored", 0.0, None, "not alike", {})
    run = make_run(["x"], make_scorer("spy", "b"), make_scorer("exact_match", "a"))
    finish(run)
    out = io.StringIO()
    write_junit(report_of(run), out)
    assert "b: not alike; a: expected" in out.getvalue()


def test_cases_that_nothing_was_sent_for_are_counted(
    make_run: MakeRun,
    make_scorer: MakeScorer,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    spy: Spy,
) -> None:
    outputs = make_outputs(make_dataset([{"key": key} for key in "abc"]), ["1", "1", "1"])
    outputs.outputs.filter(case__key="b").delete()
    outputs.output_count = 2
    outputs.save()
    run = make_run(outputs, make_scorer("spy"))
    finish(run)
    said = "cases without an output: 1 (b)"
    assert said in as_table(report_of(run)).splitlines()
    assert f"- {said}" in as_markdown(report_of(run)).splitlines()
    told = as_json(report_of(run))
    assert (told["missing_outputs"], told["missing_output_keys"]) == (1, ["b"])
    assert (told["scorers"][0]["scored"], told["scorers"][0]["n"]) == (2, 3)
    assert "2 of 3" in as_table(report_of(run))
    out = io.StringIO()
    write_junit(report_of(run), out)
    assert 'tests="3" failures="0" errors="0" skipped="1"' in out.getvalue()


def test_nothing_scored_prints_no_number(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    run = make_run(["error"], make_scorer("spy"))
    finish(run)
    line = as_table(report_of(run)).splitlines()[1]
    assert line.split() == ["spy", "-", "-", "0", "of", "1", "1", "0.5"]
    assert as_json(report_of(run))["scorers"][0]["mean"] is None


def test_a_relabelled_run_says_so_and_keeps_its_figures(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"]})
    entry_of().change_threshold(0.7, by=None, reason="x")
    before = as_table(report_of(run)).splitlines()
    assert as_json(report_of(run))["relabel"] is None
    relabel_run(run, by=None)
    line = (
        "re-labelled with close 0.7: 1 pass, 1 fail, 1 error, 0 skipped; "
        "everything else here is as scored"
    )
    after = as_table(report_of(run)).splitlines()
    assert line in after
    assert [each for each in after if each != line] == before
    assert f"- {line}" in as_markdown(report_of(run)).splitlines()
    found = json.loads(json.dumps(as_json(report_of(run))))
    assert found["verdicts"] == {"pass": 2, "fail": 0, "error": 1, "skipped": 0}
    assert found["relabel"]["verdicts"] == {"pass": 1, "fail": 1, "error": 1, "skipped": 0}
    out = io.StringIO()
    write_junit(report_of(run), out)
    suite = ET.fromstring(out.getvalue().encode())
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    (told,) = suite.iterfind("properties/property")
    assert (told.get("name"), told.get("value")) == ("relabel", line)
