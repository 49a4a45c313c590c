from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.gates import (
    Gate,
    GateError,
    Measure,
    State,
    baseline_of,
    check_gate,
    decide,
    next_run,
    parse_gate,
    previous_run,
)
from scoring.engine.regressions import regressions_of
from scoring.models import Baseline, OutputSet, Run
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.conftest import MakeRun, MakeScorer, Spy, finish


@pytest.mark.parametrize(
    ("text", "metric", "scorer", "comparison", "limit"),
    [
        ("pass_rate>=0.9", "pass_rate", "", ">=", 0.9),
        ("  pass_rate  >  .5 ", "pass_rate", "", ">", 0.5),
        ("regressions<=0", "regressions", "", "<=", 0.0),
        ("regressions == 3", "regressions", "", "==", 3.0),
        ("regressions!=-1", "regressions", "", "!=", -1.0),
        ("mean.close>=0.8", "mean", "close", ">=", 0.8),
        ("mean.close enough >= 0.8", "mean", "close enough", ">=", 0.8),
        ("mean.pass_rate<1e-3", "mean", "pass_rate", "<", 0.001),
        ("mean.v1.2-a>=0.8", "mean", "v1.2-a", ">=", 0.8),
        ("mean.a>b>=0.8", "mean", "a>b", ">=", 0.8),
    ],
)
def test_a_gate_is_read(text: str, metric: str, scorer: str, comparison: str, limit: float) -> None:
    gate = parse_gate(text)
    assert (gate.metric, gate.scorer, gate.comparison, gate.limit) == (
        metric,
        scorer,
        comparison,
        limit,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pass_rate",
        "pass_rate>=",
        "pass_rate=0.9",
        "pass_rate=>0.9",
        "pass_rate>=high",
        "pass_rate>=nan",
        "pass_rate>=inf",
        "pass_rate>=0.9 and regressions<=0",
        "mean>=0.8",
        "mean.>=0.8",
        "accuracy>=0.8",
    ],
)
def test_a_gate_that_cannot_be_read_says_how_to_write_one(text: str) -> None:
    with pytest.raises(GateError, match=r"write pass_rate>=0\.9, mean\.SCORER>=0\.8 or"):
        parse_gate(text)


@pytest.mark.parametrize(
    ("text", "measure", "state"),
    [
        ("pass_rate>=0.9", Measure(0.9, 100, 5), "passed"),
        ("pass_rate>=0.9", Measure(0.9, 100, 6), "undecided"),
        ("pass_rate>=0.9", Measure(0.899, 100, 0), "failed"),
        ("pass_rate>0.9", Measure(0.9, 100, 0), "failed"),
        ("pass_rate<0.9", Measure(0.5, 100, 0), "passed"),
        ("pass_rate>=0", Measure(None, 0, 0), "undecided"),
        ("pass_rate>=0", Measure(None, 4, 4), "undecided"),
        ("regressions<=0", Measure(0, 100, 0), "passed"),
        ("regressions<=0", Measure(1, 100, 0), "failed"),
        ("regressions<=0", Measure(0, 100, 50), "undecided"),
        ("regressions<=0", Measure(0, 0, 0), "undecided"),
    ],
)
def test_a_gate_decides(text: str, measure: Measure, state: State) -> None:
    assert decide(parse_gate(text), measure, 0.05).state == state


def test_undecided_says_why() -> None:
    gate = parse_gate("pass_rate>=0.5")
    assert decide(gate, Measure(0.9, 1000, 60), 0.05).why == (
        "60 of 1,000 have an error or were skipped, over 0.05"
    )
    assert decide(gate, Measure(None, 0, 0), 0.05).why == "nothing was scored"


@pytest.mark.django_db
class TestOnRuns:
    @pytest.mark.parametrize(
        ("outputs", "gate", "value", "state"),
        [
            (["1", "1", "0", "1"], "pass_rate>=0.75", 0.75, "passed"),
            (["1", "1", "0", "1"], "pass_rate>0.75", 0.75, "failed"),
            (["1", "0.5", "0"], "mean.spy>=0.5", 0.5, "passed"),
            (["1"] * 19 + ["error"], "pass_rate>=1", 1.0, "passed"),
            (["1"] * 18 + ["error", "skip"], "pass_rate>=0.1", 1.0, "undecided"),
            (["1"] * 18 + ["error", "skip"], "mean.spy>=0.1", 1.0, "undecided"),
            (["error"], "mean.spy>=0", None, "undecided"),
        ],
    )
    def test_the_figures_are_those_of_the_run(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        spy: Spy,
        outputs: list[str],
        gate: str,
        value: float | None,
        state: State,
    ) -> None:
        run = make_run(outputs, make_scorer("spy"))
        finish(run)
        outcome = check_gate(parse_gate(gate), run, None, 0.05)
        assert (outcome.value, outcome.state) == (value, state)

    def test_regressions_are_cases_that_passed_and_now_fail_by_key(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
        spy: Spy,
    ) -> None:
        scorer = make_scorer("spy")
        old_version = make_dataset([{"key": key} for key in "abcdef"])
        baseline = make_run(make_outputs(old_version, ["1", "1", "1", "0", "error", "1"]), scorer)
        finish(baseline)
        # The new version has its cases in another order, one fewer and one more.
        new_version = make_dataset([{"key": key} for key in "fedcbx"])
        run = make_run(make_outputs(new_version, ["0", "0", "0", "1", "error", "0"]), scorer)
        finish(run)
        found = regressions_of(run, baseline)
        assert found.broke == 1  # f; b errs, d and e did not pass, x is new
        outcome = check_gate(parse_gate("regressions<=0"), run, found, 0.5)
        assert (outcome.value, outcome.state) == (1, "failed")

    def test_trials_are_compared_one_by_one(
        self, make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset, spy: Spy
    ) -> None:
        version, scorer = make_dataset([{"key": "a"}]), make_scorer("spy")
        runs = []
        for texts in (["1", "0"], ["0", "0"]):
            outputs = OutputSet.objects.create(version=version, series="a", state="ready")
            for trial, text in enumerate(texts):
                outputs.outputs.create(case=version.cases.get(), trial=trial, text=text)
            runs.append(make_run(outputs, scorer))
            finish(runs[-1])
        assert regressions_of(runs[1], runs[0]).broke == 1

    def test_without_a_baseline_nothing_has_regressed(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["no"], make_scorer("exact_match"))
        finish(run)
        outcome = check_gate(parse_gate("regressions<=0"), run, None, 0.05)
        assert (outcome.state, outcome.value) == ("passed", None)
        assert outcome.why == "there is no earlier run to have regressed from"

    def test_the_previous_run_is_the_latest_earlier_finished_one_of_the_series(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
    ) -> None:
        version, scorer = make_dataset([{"expected": "yes"}]), make_scorer("exact_match")
        now = timezone.now()

        def run_of(days_ago: int, series: str = "a", *, ends: bool = True) -> Run:
            outputs = make_outputs(version, ["yes"], series=series)
            outputs.dated = now - timedelta(days=days_ago)
            outputs.save()
            run = make_run(outputs, scorer)
            if ends:
                finish(run)
            return run

        week_before = run_of(7)
        run_of(14)
        run_of(3, series="b")
        run_of(2, ends=False)
        day_after = run_of(-1)
        latest = run_of(0)
        assert (previous_run(latest), next_run(latest)) == (week_before, day_after)
        assert previous_run(run_of(20)) is None
        same_day = run_of(0)
        assert (previous_run(same_day), next_run(same_day)) == (latest, day_after)
        assert (previous_run(latest), next_run(latest)) == (week_before, same_day)
        assert next_run(day_after) is None

    def test_the_baseline_is_the_pinned_run_else_the_previous_one(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
    ) -> None:
        version, scorer = make_dataset([{"expected": "yes"}]), make_scorer("exact_match")
        runs = [make_run(make_outputs(version, ["yes"]), scorer) for _ in range(3)]
        other = make_run(make_outputs(version, ["yes"], series="b"), scorer)
        for run in (*runs, other):
            finish(run)
        assert baseline_of(runs[2]) == runs[1]
        Baseline.objects.pin(runs[0], by=None)
        assert baseline_of(runs[2]) == runs[0]
        assert baseline_of(runs[0]) is None  # nothing is its own measure, and none came before
        assert baseline_of(other) is None  # a pin is its series' alone
        Baseline.objects.get().unpin(by=None)
        assert baseline_of(runs[2]) == runs[1]


def test_a_gate_shows_its_own_text() -> None:
    assert parse_gate(" pass_rate >= 0.9 ") == Gate("pass_rate >= 0.9", "pass_rate", "", ">=", 0.9)
