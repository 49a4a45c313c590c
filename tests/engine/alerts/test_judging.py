"""What a rule says of the newest run: a table of kinds and situations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.alerts.finding import Later
from scoring.engine.alerts.judging import judge
from scoring.models import (
    AlertRule,
    DatasetVersion,
    Run,
    RunState,
    WatchState,
)
from tests.drifting import run_again, scorer_of
from tests.engine.alerts.conftest import MakeRule, compared, found, letters, run_of

FINE, FIRING, UNDECIDED, SILENT = (
    WatchState.FINE,
    WatchState.FIRING,
    WatchState.UNDECIDED,
    WatchState.SILENT,
)


@pytest.mark.parametrize(
    ("verdicts", "state", "words"),
    [
        (letters(16), FINE, "The pass rate is 80.0\u202f% in w1 (n = 20), not below 80\u202f%."),
        (letters(15), FIRING, "The pass rate is 75.0\u202f% in w1 (n = 20), below 80\u202f%."),
        (letters(20), FINE, "The pass rate is 100.0\u202f% in w1 (n = 20), not below 80\u202f%."),
        (letters(0), FIRING, "The pass rate is 0.0\u202f% in w1 (n = 20), below 80\u202f%."),
        (
            letters(19, rest="e"),
            FINE,
            "The pass rate is 100.0\u202f% in w1 (n = 19 of 20), not below 80\u202f%.",
        ),
        (letters(18, rest="e"), UNDECIDED, "2 of 20 cases of w1 have an error or were skipped"),
        (letters(18, rest="s"), UNDECIDED, "2 of 20 cases of w1 have an error or were skipped"),
        (letters(0, rest="e"), UNDECIDED, "20 of 20 cases of w1 have an error or were skipped"),
        ("", UNDECIDED, "Nothing was scored in w1."),
    ],
)
@pytest.mark.parametrize("scorer", ["", "close"])
def test_the_pass_rate(
    version: DatasetVersion, make_rule: MakeRule, scorer: str, verdicts: str, state: str, words: str
) -> None:
    run = run_of(version, 1, verdicts)
    told = found(make_rule(scorer=scorer))
    assert told.state == state
    assert told.sentence.startswith(
        words.replace("rate is", f"rate of {scorer} is" if scorer else "rate is")
    )
    assert told.run == run


@pytest.mark.parametrize(
    ("mean", "verdicts", "state", "words"),
    [
        (0.8, letters(20), FINE, "The mean of close is 0.8 in w1 (n = 20), not below 0.8."),
        (0.1 * 8, letters(20), FINE, "The mean of close is 0.8 in w1 (n = 20), not below 0.8."),
        (0.79999, letters(20), FIRING, "The mean of close is 0.79999 in w1 (n = 20), below 0.8."),
        (0.2, letters(20), FIRING, "The mean of close is 0.2 in w1 (n = 20), below 0.8."),
        (0.2, letters(18, rest="e"), UNDECIDED, "2 of 20 cases"),
        (None, letters(0, rest="e"), UNDECIDED, "20 of 20 cases"),
    ],
)
def test_the_mean(
    version: DatasetVersion,
    make_rule: MakeRule,
    mean: float | None,
    verdicts: str,
    state: str,
    words: str,
) -> None:
    scorer_of(version)
    rule = make_rule("mean_below", scorer="close")
    run_of(version, 1, verdicts, mean)
    told = found(rule)
    assert (told.state, told.sentence[: len(words)]) == (state, words)
    if state != UNDECIDED:
        assert (told.value, told.limit) == (mean, 0.8)


@pytest.mark.parametrize("kind", ["pass_rate_below", "drop", "regressions"])
def test_without_a_run_nothing_is_said(make_rule: MakeRule, kind: str) -> None:
    told = found(make_rule(kind, 1))
    assert (told.state, told.run) == (SILENT, None)


def test_only_the_newest_run_by_its_outputs_date_counts(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule()
    run_of(version, 9, letters(20))
    run_of(version, 1, letters(0))
    told = found(rule)
    assert (told.state, told.run and told.run.name) == (FINE, "w9")


def test_of_runs_over_the_same_outputs_the_newest_counts(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    first = run_of(version, 1, letters(0))
    run_again(first.output_set, 0.9, letters(20))
    assert found(make_rule()).state == FINE


def test_a_run_by_other_scorers_over_the_same_outputs_hides_nothing(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    first = run_of(version, 1, letters(0))
    run_again(first.output_set, 0.9, letters(20), scorers=[scorer_of(version, "other")])
    told = found(make_rule("mean_below", scorer="close"))
    assert (told.state, told.run) == (FIRING, first)


def test_a_newest_run_without_the_scorer_is_undecided(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(20))
    run_of(version, 2, letters(20), scorers=[scorer_of(version, "other")])
    told = found(make_rule("mean_below", scorer="close"))
    assert (told.state, told.sentence) == (UNDECIDED, "w2 was not scored by close.")


def test_while_the_newest_run_goes_on_nothing_is_said(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(0))
    newest = run_of(version, 2, letters(20))
    rule = make_rule()
    for state in (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING):
        Run.objects.update_or_create(pk=newest.pk, defaults={"state": state})
        assert judge(rule, "a", timezone.now()) == Later(None)
    Run.objects.filter(pk=newest.pk).update(state=RunState.CANCELLED)
    assert found(rule).state == FIRING


def test_each_series_is_looked_at_by_itself(version: DatasetVersion, make_rule: MakeRule) -> None:
    run_of(version, 1, letters(0), series="a")
    run_of(version, 2, letters(20), series="b")
    rule = make_rule()
    assert (found(rule, "a").state, found(rule, "b").state) == (FIRING, FINE)


def line(version: DatasetVersion, last: float, n: int = 8, verdicts: str = "") -> None:
    """So many weeks of means about 0.8, and a last one."""
    for week in range(n - 1):
        run_of(version, week, letters(20), 0.8 + 0.01 * (week % 2))
    run_of(version, n - 1, verdicts or letters(20), last)


@pytest.mark.parametrize(
    ("last", "n", "verdicts", "state"),
    [
        (0.8, 8, "", FINE),
        (0.95, 12, "", FINE),  # above the limits
        (0.5, 12, "", FIRING),
        (0.5, 7, "", SILENT),
        (0.5, 12, letters(18, rest="e"), UNDECIDED),
    ],
)
def test_below_the_control_limit(
    version: DatasetVersion, make_rule: MakeRule, last: float, n: int, verdicts: str, state: str
) -> None:
    line(version, last, n, verdicts)
    told = found(make_rule("out_of_limits", None, scorer="close"))
    assert told.state == state, told.sentence
    if state == FIRING:
        # The individuals chart by hand: centre - 2.66 times the mean moving range.
        means = [*(0.8 + 0.01 * (week % 2) for week in range(n - 1)), last]
        moves = [abs(b - a) for a, b in pairwise(means)]
        low = sum(means) / n - 2.66 * sum(moves) / len(moves)
        assert told.limit == pytest.approx(low)
        assert f"is 0.5 in w11 (n = 20), below the control limit {low:.3f} (" in told.sentence
    if state == SILENT:
        assert "7 runs, 8 are needed" in told.sentence


def test_a_rule_made_before_any_run_leaves_each_series_to_itself(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule()
    run_of(version, 1, letters(0))
    assert found(rule, "").state == FINE


@pytest.mark.parametrize(
    ("kind", "limit", "scorer"),
    [
        ("mean_below", 0.5, "close"),
        ("pass_rate_below", 0.5, ""),
        ("drop", None, "close"),
        ("regressions", 1, ""),
        ("out_of_limits", None, "close"),
        ("no_data", 1, ""),
    ],
)
@pytest.mark.parametrize("runs", [2, 9])
def test_a_look_takes_few_queries(
    version: DatasetVersion,
    make_rule: MakeRule,
    django_assert_max_num_queries: Any,
    kind: str,
    limit: float | None,
    scorer: str,
    runs: int,
) -> None:
    line(version, 0.8, runs)
    rule = make_rule(kind, limit, scorer=scorer)
    rule = AlertRule.objects.select_related("dataset__team").get(pk=rule.pk)
    compared(rule)
    with django_assert_max_num_queries(7):
        found(rule)
