"""Gates: how they are written, and what they answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import comb

import pytest

from scoring.engine.compare.gates import (
    NO_BASELINE,
    Gate,
    GateError,
    GateLimits,
    GateMeasure,
    GateOutcome,
    State,
    check_gate,
    check_gates,
    decide_gate,
    parse_gate,
)
from scoring.engine.compare.regressions import count_regressions
from scoring.engine.reports import run_summary
from scoring.models import OutputSet, Run, RunSummary, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import Given, run_with
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db


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
        "no_regression<=0",
        "no_regressions",
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
        ("pass_rate>=0.9", GateMeasure(0.9, 100, 5), "passed"),
        ("pass_rate>=0.9", GateMeasure(0.9, 100, 6), "undecided"),
        ("pass_rate>=0.9", GateMeasure(0.899, 100, 0), "failed"),
        ("pass_rate>0.9", GateMeasure(0.9, 100, 0), "failed"),
        ("pass_rate<0.9", GateMeasure(0.5, 100, 0), "passed"),
        ("pass_rate>=0", GateMeasure(None, 0, 0), "undecided"),
        ("pass_rate>=0", GateMeasure(None, 4, 4), "undecided"),
        ("regressions<=0", GateMeasure(0, 100, 0), "passed"),
        ("regressions<=0", GateMeasure(1, 100, 0), "failed"),
        ("regressions<=0", GateMeasure(0, 100, 50), "undecided"),
        ("regressions<=0", GateMeasure(0, 0, 0), "undecided"),
    ],
)
def test_a_gate_decides(text: str, measure: GateMeasure, state: State) -> None:
    assert decide_gate(parse_gate(text), measure, 0.05).state == state


def test_undecided_says_why() -> None:
    gate = parse_gate("pass_rate>=0.5")
    assert decide_gate(gate, GateMeasure(0.9, 1000, 60), 0.05).why == (
        "60 of 1,000 have no output, have an error or were skipped, over 0.05"
    )
    assert decide_gate(gate, GateMeasure(None, 0, 0), 0.05).why == "nothing was scored"


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
        found = count_regressions(run, baseline)
        assert found.broke == 1  # f; b errs, d and e did not pass, x is new
        outcome = check_gate(parse_gate("regressions<=0"), run, found, 0.5)
        assert (outcome.value, outcome.state) == (1, "failed")

    @pytest.mark.parametrize(
        ("texts", "broke"), [(["0", "0"], 1), (["1", "0", "0"], 1), (["0", "1"], 0), (["1"], 0)]
    )
    def test_trials_count_by_their_mean(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        make_dataset: MakeDataset,
        spy: Spy,
        texts: list[str],
        broke: int,
    ) -> None:
        """Before, one of two was right, which is just as much as the threshold asks for."""
        version, scorer = make_dataset([{"key": "a"}]), make_scorer("spy")
        runs = []
        for texts_of in (["1", "0"], texts):
            outputs = OutputSet.objects.create(version=version, series="a", state="ready")
            for trial, text in enumerate(texts_of):
                outputs.outputs.create(case=version.cases.get(), trial=trial, text=text)
            runs.append(make_run(outputs, scorer))
            finish(runs[-1])
        assert count_regressions(runs[1], runs[0]).broke == broke

    def test_without_a_baseline_nothing_has_regressed(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["no"], make_scorer("exact_match"))
        finish(run)
        outcome = check_gate(parse_gate("regressions<=0"), run, None, 0.05)
        assert (outcome.state, outcome.value) == ("passed", None)
        assert outcome.why == "there is no earlier run to have regressed from"


def test_a_gate_shows_its_own_text() -> None:
    assert parse_gate(" pass_rate >= 0.9 ") == Gate("pass_rate >= 0.9", "pass_rate", "", ">=", 0.9)


# The gate `no_regression`: McNemar's test over case verdicts, against the baseline.


MCNEMAR = parse_gate(" no_regression ")


def exact_p(broke: int, fixed: int) -> float:
    """Twice the smaller tail of a fair coin's tosses."""
    n = broke + fixed
    tail = sum(comb(n, k) for k in range(min(broke, fixed) + 1)) / 2**n
    return min(1.0, 2 * tail)


def runs_with(make_dataset: MakeDataset, broke: int, fixed: int, same: int) -> tuple[Run, Run]:
    before = [1] * broke + [0] * fixed + [1] * same
    after = [0] * broke + [1] * fixed + [1] * same
    version = make_dataset([{}] * len(before))
    return run_with(version, {"close": before}), run_with(version, {"close": after})


def outcome_of(baseline: Run, run: Run, limit: float = 0.05, drop: float = 0.1) -> GateOutcome:
    found = count_regressions(run, baseline, is_tested=True)
    return check_gate(MCNEMAR, run, found, limit, drop)


@pytest.mark.parametrize(
    ("broke", "fixed", "same", "state"),
    [
        (0, 0, 96, "passed"),  # the same verdicts again, power just over 80 %
        (0, 0, 95, "undecided"),
        (0, 0, 20, "undecided"),
        (0, 5, 200, "passed"),
        (3, 3, 20, "undecided"),
        (5, 0, 20, "undecided"),  # p is 0.0625
        (5, 0, 200, "passed"),
        (6, 0, 20, "failed"),  # p is 0.03125, whatever the power
        (6, 0, 1000, "failed"),
        (9, 2, 200, "passed"),  # p is 0.065
        (10, 2, 200, "failed"),  # p is 0.039
        (2, 10, 20, "undecided"),
        (2, 10, 200, "passed"),
        (40, 40, 120, "undecided"),  # so many flip by chance that a drop would not be found
    ],
)
def test_the_gate_decides_by_mcnemar_and_its_power(
    make_dataset: MakeDataset, broke: int, fixed: int, same: int, state: State
) -> None:
    found = outcome_of(*runs_with(make_dataset, broke, fixed, same))
    assert found.state == state
    assert found.value == pytest.approx(exact_p(broke, fixed))
    assert found.why.startswith(f"{broke} broke, {fixed} fixed; power ")
    assert found.figures is not None
    assert (found.figures["power"] >= 0.8) is ((found.figures["detectable_drop"] or 2) <= 0.1)
    assert ("; needs " in found.why) is (state == "undecided")


def test_a_smaller_drop_takes_more_cases(make_dataset: MakeDataset) -> None:
    runs = runs_with(make_dataset, 2, 2, same=146)
    assert (outcome_of(*runs).state, outcome_of(*runs, drop=0.05).state) == ("passed", "undecided")


def test_undecided_names_what_would_decide_it(make_dataset: MakeDataset) -> None:
    many = outcome_of(*runs_with(make_dataset, 30, 30, same=140))
    assert many.explanation.endswith(
        "power 55 % for a drop of 0.1, 80 % for 0.136; needs 3 times the trials or about "
        "333 cases; worth more trials: case-1, case-2, case-3, case-4, case-5 and 55 more"
    )
    few = outcome_of(*runs_with(make_dataset, 1, 0, same=20))
    assert few.why.endswith("needs about 134 cases")
    assert few.cases == "worth more trials: case-1"
    assert few.figures
    assert few.figures["unstable_cases"] == {"count": 1, "keys": ["case-1"]}


@pytest.mark.parametrize("gate", ["pass_rate>=0.5", "mean.close>=0.5"])
@pytest.mark.parametrize(("cases", "state"), [(4, "undecided"), (7, "passed")])
def test_a_trial_that_failed_to_run_is_unjudged_by_its_share(
    make_dataset: MakeDataset, gate: str, cases: int, state: str
) -> None:
    """One of three trials of one case: 8 % of four cases, 4.8 % of seven."""
    scores: list[Given] = [*[1.0] * (3 * cases - 1), "error"]
    run = run_with(make_dataset([{}] * cases), {"close": scores}, trials=3)
    outcome = check_gate(parse_gate(gate), run, None, 0.05)
    assert (outcome.state, outcome.value) == (state, 1.0)
    causes = "have no output, have an error or were skipped, over 0.05"
    assert outcome.why == (f"0.4 of 4 {causes}" if cases == 4 else "")


def test_trials_of_a_case_are_not_counted_as_cases(make_dataset: MakeDataset) -> None:
    """Nine outputs fail that passed, which as cases would be p 0.004, but they are three cases."""
    version = make_dataset([{}] * 20)
    before = run_with(version, {"close": [1] * 60}, trials=3)
    after = run_with(version, {"close": [0] * 9 + [1] * 51}, trials=3)
    found = outcome_of(before, after)
    assert (found.state, found.why[:17]) == ("undecided", "3 broke, 0 fixed;")
    worse = run_with(version, {"close": [0] * 21 + [1] * 39}, trials=3)
    assert outcome_of(before, worse).state == "failed"


@pytest.mark.parametrize(
    ("before", "after", "limit", "why"),
    [
        ([1] * 20, ["error"] * 2 + [1] * 18, 0.05, "2 with an error or a skip), over 0.05"),
        ([1] * 4, ["error"] * 4, 1, "no case has a verdict in both runs"),
        (["skip"] * 4, [1] * 4, 1, "no case has a verdict in both runs"),
    ],
)
def test_too_little_known_leaves_it_undecided(
    make_dataset: MakeDataset,
    before: Sequence[Given],
    after: Sequence[Given],
    limit: float,
    why: str,
) -> None:
    version = make_dataset([{}] * len(before))
    runs = [run_with(version, {"close": given}) for given in (before, after)]
    found = outcome_of(runs[0], runs[1], limit)
    assert (found.state, why in found.why) == ("undecided", True)


def test_a_first_run_has_not_regressed(make_dataset: MakeDataset) -> None:
    run = run_with(make_dataset([{}]), {"close": [0]})
    assert check_gate(MCNEMAR, run, None, 0.05) == GateOutcome(MCNEMAR, "passed", None, NO_BASELINE)


def test_every_report_says_it(make_dataset: MakeDataset) -> None:
    baseline, run = runs_with(make_dataset, 6, 0, same=20)
    worse = count_regressions(run, baseline, is_tested=True)
    found = run_summary.Report(run, baseline, worse, [outcome_of(baseline, run)])
    line = "6 broke, 0 fixed; power 6 % for a drop of 0.1, 80 % for 0.501"
    told = f"gate no_regression (p = 0.031) failed: {line}"
    assert told in run_summary.as_table(found)
    assert f"- {told}" in run_summary.as_markdown(found)
    (gate,) = json.loads(json.dumps(run_summary.as_json(found)))["gates"]
    assert list(gate.values())[:4] == ["no_regression", "failed", 0.03125, line]
    assert list(gate)[4:] == ["drop", "power", "detectable_drop", "judge_flips", "unstable_cases"]


@pytest.mark.parametrize(
    ("texts", "state"),
    [
        (["pass_rate>=0.1"], "passed"),
        (["pass_rate>=0.1", "regressions<=1"], "passed"),
        (["pass_rate>=0.1", "no_regression"], "undecided"),
        (["no_regression", "pass_rate>=1"], "failed"),
        (["regressions<=0", "pass_rate>=0.1"], "failed"),
    ],
)
def test_the_worst_answer_is_that_of_all(
    make_dataset: MakeDataset, texts: list[str], state: State
) -> None:
    old, new = runs_with(make_dataset, 1, 0, same=20)
    check = check_gates(new, old, [parse_gate(text) for text in texts], GateLimits())
    assert [outcome.gate.text for outcome in check.outcomes] == texts
    assert check.state == state
    assert (check.run, check.baseline) == (new, old)


def test_without_a_baseline_nothing_is_compared(make_dataset: MakeDataset) -> None:
    old, _ = runs_with(make_dataset, 1, 0, same=20)
    check = check_gates(old, None, [parse_gate("regressions<=0")], GateLimits())
    assert check.regressions is None
    assert (check.state, check.outcomes[0].why) == ("passed", NO_BASELINE)


def test_waived_cases_do_not_count(make_dataset: MakeDataset, alice: User) -> None:
    old, new = runs_with(make_dataset, 2, 0, same=20)
    gates = [parse_gate("regressions<=1")]
    (before,) = check_gates(new, old, gates, GateLimits()).outcomes
    waive(new, "case-1", "close", alice)
    (after,) = check_gates(new, old, gates, GateLimits()).outcomes
    assert (before.state, before.value, before.why) == ("failed", 2, "")
    assert (after.state, after.value, after.why) == ("passed", 1, "1 waived")


def test_a_run_that_was_cancelled_before_it_began_is_undecided(make_dataset: MakeDataset) -> None:
    run, _ = runs_with(make_dataset, 1, 0, same=20)
    RunSummary.objects.filter(scorer__run=run).delete()
    name = run.scorers.get().name
    check = check_gates(run, None, [parse_gate(f"mean.{name}>=0.5")], GateLimits())
    assert (check.state, check.outcomes[0].why) == ("undecided", "nothing was scored")


def test_cases_left_out_count_and_are_not_named(make_dataset: MakeDataset) -> None:
    old, new = runs_with(make_dataset, 2, 0, same=20)
    gates = [parse_gate("no_regression")]
    (whole,) = check_gates(new, old, gates, GateLimits()).outcomes
    (partial,) = check_gates(new, old, gates, GateLimits(), without={1}).outcomes
    assert whole.cases == "worth more trials: case-1, case-2"
    assert partial.cases == "worth more trials: case-2 and 1 more"
    assert (partial.state, partial.value, partial.why) == (whole.state, whole.value, whole.why)
    assert partial.figures is not None
    assert partial.figures["unstable_cases"] == {"count": 2, "keys": ["case-2"]}


def test_a_scorer_that_the_run_lacks_is_refused(make_dataset: MakeDataset) -> None:
    old, new = runs_with(make_dataset, 1, 0, same=2)
    with pytest.raises(
        GateError, match=r"mean.tone>=1: the run .* has no such scorer; it has: close"
    ):
        check_gates(new, old, [parse_gate("mean.tone>=1")], GateLimits())


@pytest.mark.parametrize(
    ("given", "is_sound"),
    [
        ({}, True),
        ({"max_unjudged": 0, "drop": 1}, True),
        ({"max_unjudged": 1}, True),
        ({"max_unjudged": 1.01}, False),
        ({"max_unjudged": -0.01}, False),
        ({"drop": 0}, False),
        ({"drop": 1.01}, False),
        ({"drop": float("nan")}, False),
    ],
)
def test_limits_are_shares(given: dict[str, float], is_sound: bool) -> None:
    if is_sound:
        GateLimits(**given).check()
    else:
        with pytest.raises(GateError, match="is a share"):
            GateLimits(**given).check()
