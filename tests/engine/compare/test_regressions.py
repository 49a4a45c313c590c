"""How many cases became worse, and of how many that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.gates import State, check_gate, parse_gate
from scoring.engine.compare.regressions import Regressions, count_regressions
from scoring.models import User
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db

GATE = parse_gate("regressions<=0")


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ([1, 1, 0, 0], [1, 0, 1, 0], Regressions(1, 4)),
        ([1, 1, 1, 1], [1, "error", "skip", 0], Regressions(1, 4, unclear=2)),
        (["error", "skip", "error", 1], [0, 1, "error", 1], Regressions(0, 4, unclear=3)),
        ([1, 1, None, None], [0, None, 0, None], Regressions(1, 3, alone=2)),
        ([1, None, None, None], [None, 1, "error", 1], Regressions(0, 4, alone=4)),
        ([None, 1, 1, "error"], [1, None, 0, 1], Regressions(1, 4, unclear=1, alone=2)),
    ],
)
def test_cases_are_counted(
    make_dataset: MakeDataset,
    before: Sequence[Given | None],
    after: Sequence[Given | None],
    wanted: Regressions,
) -> None:
    """None stands for a case without an output; one that neither run has is in no question."""
    version = make_dataset([{}] * 4)
    runs = []
    for given in (before, after):
        left_out = [place for place, score in enumerate(given) if score is None]
        scores = [score for score in given if score is not None]
        runs.append(run_with(version, {"close": scores}, leaves_out=left_out))
    counted = count_regressions(runs[1], runs[0], is_tested=True)
    assert counted._replace(warnings=(), flips=None) == wanted
    compare_runs(runs[0], runs[1])
    assert count_regressions(runs[1], runs[0], is_tested=True) == counted  # from what is stored


def test_cases_that_only_one_dataset_version_has_are_in_no_question(
    make_dataset: MakeDataset,
) -> None:
    old = make_dataset([{"key": key} for key in "abcdef"])
    new = make_dataset([{"key": key} for key in "xfedcb"])
    before = run_with(old, {"close": [1, 1, 1, 1, 1]}, leaves_out=[5])  # f has no output
    after = run_with(new, {"close": [1, 1, 1, 1, 0]}, leaves_out=[2])  # e has none
    # a and x are each in one version only; b broke, c and d stayed.
    found = count_regressions(after, before)
    assert found._replace(warnings=()) == Regressions(1, 5, alone=2)
    compare_runs(before, after)
    assert count_regressions(after, before) == found


def test_another_number_of_trials_lacks_no_case(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    once = run_with(version, {"close": [1, 1]})
    thrice = run_with(version, {"close": [1] * 6}, trials=3)
    assert count_regressions(thrice, once)[:4] == (0, 2, 0, 0)
    assert count_regressions(once, thrice)[:4] == (0, 2, 0, 0)
    half = run_with(version, {"close": [1] * 3}, trials=3, leaves_out=[3, 4, 5])
    counted = count_regressions(half, thrice, is_tested=True)
    assert counted[:4] == (0, 2, 0, 1)
    compare_runs(thrice, half)
    assert count_regressions(half, thrice, is_tested=True) == counted


def test_waivers_are_looked_up_beside_the_stored_comparison(
    make_dataset: MakeDataset, alice: User
) -> None:
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    old, new = run_with(version, {"close": [1, 1]}), run_with(version, {"close": [0, 0]})
    compare_runs(old, new)
    assert count_regressions(new, old).unwaived == 2
    waive(new, "a", "close", alice)
    assert count_regressions(new, old).unwaived == 1
    waive(new, "b", "close", alice, days=-1)
    assert count_regressions(new, old).unwaived == 1  # an expired one excuses nothing


def test_a_stored_comparison_is_read_and_nothing_counted(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    version = make_dataset([{}] * 40)
    old, new = run_with(version, {"close": [1] * 40}), run_with(version, {"close": [1] * 40})
    compare_runs(old, new)
    with django_assert_num_queries(1):
        count_regressions(new, old)
    with django_assert_num_queries(3):  # and scorers, and their checks
        count_regressions(new, old, is_tested=True)


def test_the_note_says_of_how_many_nothing_can_be_said() -> None:
    assert Regressions(3, 100).note == ""
    assert Regressions(3, 1_000, unclear=40).note == (
        "nothing can be said of 40 of 1,000 cases (40 with an error or a skip)"
    )
    assert Regressions(0, 2_000, unclear=40, alone=1_200).note == (
        "nothing can be said of 1,240 of 2,000 cases "
        "(40 with an error or a skip, 1,200 with an output in one run only)"
    )


@pytest.mark.parametrize(
    ("found", "limit", "state", "why"),
    [
        (Regressions(0, 100), 0.05, "passed", ""),
        (Regressions(1, 100), 0.05, "failed", ""),
        (Regressions(0, 100, unclear=5), 0.05, "passed", "said of 5 of 100 cases (5 with an"),
        (Regressions(1, 100, alone=5), 0.05, "failed", "said of 5 of 100 cases (5 with an output"),
        (Regressions(0, 100, unclear=6), 0.05, "undecided", "said of 6 of 100"),
        (Regressions(0, 100, alone=6), 0.05, "undecided", "in one run only), over 0.05"),
        (Regressions(9, 100, unclear=3, alone=3), 0.05, "undecided", "(3 with an error or a skip"),
        (Regressions(0, 100, unclear=6), 0.06, "passed", "said of 6 of 100"),
        (Regressions(0, 100, unclear=1), 0, "undecided", "over 0"),
        (Regressions(0, 4, unclear=4), 1, "undecided", "no case has a verdict in both runs: not"),
        (Regressions(0, 0), 1, "undecided", "no case has a verdict in both runs"),
    ],
)
def test_too_many_such_cases_leave_a_gate_undecided(
    make_dataset: MakeDataset, found: Regressions, limit: float, state: State, why: str
) -> None:
    run = run_with(make_dataset([{}]), {"close": [1]})
    outcome = check_gate(GATE, run, found, limit)
    assert (outcome.state, outcome.value) == (state, found.broke)
    assert why in outcome.why
    assert bool(why) == bool(outcome.why)


def test_only_gates_on_regressions_go_by_the_baseline(make_dataset: MakeDataset) -> None:
    run = run_with(make_dataset([{}]), {"close": [1]})
    outcome = check_gate(parse_gate("pass_rate>=1"), run, Regressions(0, 4, unclear=4), 0.05)
    assert (outcome.state, outcome.why) == ("passed", "")


def test_errors_of_cases_the_baseline_has_not_count_as_well(make_dataset: MakeDataset) -> None:
    before = run_with(make_dataset([{"key": "a"}]), {"close": [1]})
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    after = run_with(version, {"close": [1, "error"]})
    found = count_regressions(after, before)
    assert found[:4] == (0, 1, 0, 0)
    outcome = check_gate(GATE, after, found, 0.05)
    assert (outcome.state, outcome.why) == (
        "undecided",
        "1 of 2 have no output, have an error or were skipped, over 0.05",
    )


def test_it_names_what_makes_the_runs_less_alike(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": key} for key in "ab"])
    before = run_with(version, {"close": [1, 1]}, name="w1")
    alike = run_with(version, {"close": [1, 1]}, name="w2")
    assert count_regressions(alike, before).warnings == ()
    after = run_with(
        make_dataset([{"key": key, "input": "else"} for key in "ab"]),
        {"close": [1], "tone": [1]},
        name="w3",
        leaves_out=[1],
        thresholds={"close": 0.7},
    )
    warned = "\n".join(count_regressions(after, before).warnings)
    for text in (
        "The run w3 covers 1 of 2 cases",
        "over versions v1 and v2 of the dataset",
        "close: the threshold was 0.5 and then 0.7",
        "Only the candidate has tone",
    ):
        assert text in warned
