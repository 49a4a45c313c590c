"""Gates as a person sees their answers: cases yet to be reviewed count and are not named."""

from __future__ import annotations

import pytest

from evalsite.gate_checks import ShownCheck, check_gates_for, needs_baseline
from scoring.engine.compare.comparison import NotComparableError
from scoring.engine.compare.gates import GateLimits, parse_gate
from scoring.engine.review.feedback import give_review
from scoring.models import Comparison, Job, JobKind, ReviewVerdict, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.waived_runs import waive

NONE, TESTED = parse_gate("regressions<=0"), parse_gate("no_regression")


@pytest.fixture
def runs(make_dataset: MakeDataset, alice: User) -> tuple[Run, Run]:
    """a to c broke; a is waived, b was until a day that is over."""
    version = make_dataset([{"key": key} for key in "abcdef"])
    old = run_with(version, {"close": [1.0] * 6})
    new = run_with(version, {"close": [0, 0, 0, 1, 1, 1]})
    waive(new, "a", "close", alice)
    waive(new, "b", "close", alice, days=-2)
    return old, new


def check(user: User, runs: tuple[Run, Run]) -> ShownCheck:
    shown = check_gates_for(user, runs[1], runs[0], [NONE, TESTED], GateLimits())
    assert shown is not None
    return shown


def named(shown: ShownCheck) -> tuple[list[str], list[str], int]:
    keys = ([case.pair.key for case in cases] for cases in shown.waivers)
    return (*keys, shown.left_out)


def test_waivers_and_cases_are_named(runs: tuple[Run, Run], alice: User) -> None:
    shown = check(alice, runs)
    assert named(shown) == (["a"], ["b"], 0)
    assert shown.check.outcomes[0].value == 2
    assert shown.check.outcomes[1].cases == "worth more trials: a, b, c"


@pytest.mark.parametrize("side", [0, 1])
def test_what_is_yet_to_be_reviewed_counts_without_its_name(
    runs: tuple[Run, Run], alice: User, bob: User, side: int
) -> None:
    tasks = [ask_to_review(runs[side], alice, key) for key in "ac"]
    shown = check(alice, runs)
    assert named(shown) == ([], ["b"], 1)
    assert shown.check.outcomes[0].value == 2
    assert shown.check.outcomes[1].cases == "worth more trials: b and 2 more"
    assert shown.check.outcomes[1].value == check(bob, runs).check.outcomes[1].value
    assert named(check(bob, runs)) == (["a"], ["b"], 0)
    give_review(runs[side], tasks[0].output, ReviewVerdict.FAIL, by=alice)
    assert named(check(alice, runs)) == (["a"], ["b"], 0)


def test_nothing_is_compared_for_gates_of_the_run_alone(runs: tuple[Run, Run], alice: User) -> None:
    alone = [parse_gate("pass_rate>=0.5")]
    assert not needs_baseline(alone)
    assert needs_baseline([*alone, NONE])
    shown = check_gates_for(alice, runs[1], runs[0], alone, GateLimits())
    assert shown is not None
    assert (shown.check.state, shown.check.baseline) == ("passed", None)
    assert not Comparison.objects.exists()


def test_large_runs_are_compared_by_the_worker(
    runs: tuple[Run, Run], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    assert check_gates_for(alice, runs[1], runs[0], [NONE], GateLimits()) is None
    assert Job.objects.get().kind == JobKind.COMPARE
    assert not Comparison.objects.exists()


def test_a_run_that_has_not_ended_has_no_answer(runs: tuple[Run, Run], alice: User) -> None:
    runs[1].state = RunState.RUNNING
    for baseline in (runs[0], None):
        with pytest.raises(NotComparableError, match="wait until it has finished"):
            check_gates_for(alice, runs[1], baseline, [parse_gate("pass_rate>=0")], GateLimits())
