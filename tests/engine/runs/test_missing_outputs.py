"""Cases of the dataset version that have no output in a run are counted, named, and in the way."""

from __future__ import annotations

from io import StringIO

import pytest

from scoring.engine.compare.gates import check_gate, parse_gate
from scoring.engine.reports.run_report import run_report
from scoring.engine.reports.run_summary import Report, write_junit
from scoring.engine.runs.summaries import summarize_run
from scoring.models import Output, OutputSet, Run, RunSummary
from scoring.models.runs.missing_outputs import missing_keys
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db


@pytest.fixture
def partial(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """Twenty cases, q3 and q7 without an output."""
    version = make_dataset([{"key": f"q{n}"} for n in range(20)])
    outputs = make_outputs(version, ["1"] * 20)
    outputs.outputs.filter(case__key__in=["q3", "q7"]).delete()
    return outputs


@pytest.fixture
def run(partial: OutputSet, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy) -> Run:
    made = make_run(partial, make_scorer("spy"))
    finish(made)
    return Run.objects.get(pk=made.pk)


def test_they_are_counted_and_n_of_n_says_so(run: Run) -> None:
    summary = RunSummary.objects.get(scorer__run=run)
    assert (run.case_count, run.missing_output_count) == (18, 2)
    assert (summary.scored, summary.n, summary.errors, summary.skipped) == (18, 20, 0, 0)
    assert missing_keys(run) == ["q3", "q7"]


def test_an_unfinished_run_misses_nothing_yet(
    partial: OutputSet, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    made = make_run(partial, make_scorer("spy"))
    assert (made.missing_output_count, missing_keys(made)) == (None, [])


def test_an_output_that_failed_is_an_error_and_not_missing(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    """As the outputs are that a run could not generate."""
    made = make_run(["1", None], make_scorer("spy"))
    finish(made)
    made.refresh_from_db()
    assert (made.missing_output_count, made.error_count) == (0, 1)


def test_a_missing_case_counts_once_however_many_trials_others_have(
    partial: OutputSet, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    """A case that lacks one of its trials has an output."""
    for output in partial.outputs.exclude(case__key="q5"):
        Output.objects.create(output_set=partial, case=output.case, trial=1, text="1")
    made = make_run(partial, make_scorer("spy"))
    finish(made)
    made.refresh_from_db()
    summary = RunSummary.objects.get(scorer__run=made)
    assert (made.missing_output_count, made.case_count, summary.n) == (2, 18, 20)
    assert (made.output_count, made.expected_count, made.unjudged) == (35, 20, 2)


def test_scored_again_a_run_misses_the_same(
    run: Run, partial: OutputSet, make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    summarize_run(run)
    assert RunSummary.objects.get(scorer__run=run).n == 20
    again = make_run(partial, make_scorer("exact_match"), name="again")
    finish(again)
    again.refresh_from_db()
    assert again.missing_output_count == 2


@pytest.mark.parametrize("gate", ["pass_rate>=0.5", "mean.spy>=0.5", "regressions<=0"])
def test_they_count_towards_the_errors_of_a_gate(run: Run, gate: str) -> None:
    """Two of twenty are over 5 %, and all that was scored has passed."""
    found = check_gate(parse_gate(gate), run, None, 0.05)
    assert found.state == "undecided"
    assert found.why == "2 of 20 have no output, have an error or were skipped, over 0.05"
    assert check_gate(parse_gate(gate), run, None, 0.1).state == "passed"


def test_junit_skips_them(run: Run) -> None:
    out = StringIO()
    write_junit(Report(run, None, None, ()), out)
    assert 'tests="20" failures="0" errors="0" skipped="2"' in out.getvalue()
    missing = '<testcase classname="first" name="q7"><skipped message="no output in the run"/>'
    assert missing in out.getvalue()


def test_a_report_names_them(run: Run) -> None:
    text = " ".join(run_report(run).split())
    assert "2 cases of the dataset version have no output: q3, q7." in text
    assert "18 of 20" in text
