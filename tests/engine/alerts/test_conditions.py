"""What a rule says of the newest run: a table of kinds and situations."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.alerts.comparison_conditions import RETRY_SECONDS
from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import EvaluateLater
from scoring.engine.drift import jobs, measure_series
from scoring.engine.jobs import job_queue
from scoring.models import (
    AlertRule,
    DatasetVersion,
    DriftResult,
    Job,
    JobKind,
    JobState,
    OutputSet,
    Run,
    RunState,
)
from tests.support.drift_runs import run_again, scorer_of
from tests.support.fixtures.alert_rules import (
    FINE,
    FIRING,
    SILENT,
    UNDECIDED,
    MakeRule,
    compare_and_find,
    finding_of,
    letters,
    run_of,
)

MISSING = "cases of w1 have no output, have an error or were skipped"


@pytest.mark.parametrize(
    ("verdicts", "state", "words"),
    [
        (letters(16), FINE, "The pass rate is 80.0\u202f% in w1 (n = 20), not below 80\u202f%."),
        (letters(15), FIRING, "The pass rate is 75.0\u202f% in w1 (n = 20), below 80\u202f%."),
        (letters(0), FIRING, "The pass rate is 0.0\u202f% in w1 (n = 20), below 80\u202f%."),
        (
            letters(19, rest="e"),
            FINE,
            "The pass rate is 100.0\u202f% in w1 (n = 19 of 20), not below 80\u202f%.",
        ),
        (letters(18, rest="e"), UNDECIDED, f"2 of 20 {MISSING}"),
        (letters(18, rest="s"), UNDECIDED, f"2 of 20 {MISSING}"),
        ("", UNDECIDED, f"20 of 20 {MISSING}"),
    ],
)
def test_the_pass_rate(
    version: DatasetVersion, make_rule: MakeRule, verdicts: str, state: str, words: str
) -> None:
    run = run_of(version, 1, verdicts)
    for scorer in ("", "close"):
        finding = finding_of(make_rule(scorer=scorer))
        assert (finding.state, finding.run) == (state, run)
        of = f"rate of {scorer} is" if scorer else "rate is"
        assert finding.sentence.startswith(words.replace("rate is", of))


@pytest.mark.parametrize(
    ("mean", "verdicts", "state", "words"),
    [
        (0.8, letters(20), FINE, "The mean of close is 0.8 in w1 (n = 20), not below 0.8."),
        (0.1 * 8, letters(20), FINE, "The mean of close is 0.8 in w1 (n = 20), not below 0.8."),
        (0.79999, letters(20), FIRING, "The mean of close is 0.79999 in w1 (n = 20), below 0.8."),
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
    finding = finding_of(rule)
    assert (finding.state, finding.sentence[: len(words)]) == (state, words)
    if state != UNDECIDED:
        assert (finding.value, finding.limit) == (mean, 0.8)


@pytest.mark.parametrize("kind", ["pass_rate_below", "drop", "regressions"])
def test_without_a_run_nothing_is_said(make_rule: MakeRule, kind: str) -> None:
    finding = finding_of(make_rule(kind, 1))
    assert (finding.state, finding.run) == (SILENT, None)


def test_only_the_newest_run_by_its_outputs_date_counts(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule()
    run_of(version, 9, letters(20))
    run_of(version, 1, letters(0))
    finding = finding_of(rule)
    assert (finding.state, finding.run and finding.run.name) == (FINE, "w9")


@pytest.mark.parametrize(
    ("kind", "limit", "scorer"),
    [
        ("pass_rate_below", 0.8, ""),
        ("mean_below", 0.8, "close"),
        ("regressions", 3, ""),
        ("drop", 0.1, ""),
        ("out_of_limits", None, "close"),
    ],
)
def test_a_run_dated_in_the_future_by_mistake_silences_no_rule(
    version: DatasetVersion, make_rule: MakeRule, kind: str, limit: float | None, scorer: str
) -> None:
    for week in (1, 52 * 60, 2):  # 2062 for 2026, say
        run_of(version, week, letters(0 if week == 2 else 20))
    OutputSet.objects.filter(dated__year__gt=2060).update(
        created_at=OutputSet.objects.get(runs__name="w1").dated
    )
    measure_series(version.dataset, "a")
    finding = compare_and_find(make_rule(kind, limit, scorer=scorer))
    assert (finding.state, finding.run and finding.run.name) == (FIRING, "w2")


def test_of_runs_over_the_same_outputs_the_newest_counts(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    first = run_of(version, 1, letters(0))
    run_again(first.output_set, 0.9, letters(20))
    assert finding_of(make_rule()).state == FINE


def test_a_run_by_other_scorers_over_the_same_outputs_hides_nothing(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    first = run_of(version, 1, letters(0))
    run_again(first.output_set, 0.9, letters(20), scorers=[scorer_of(version, "other")])
    finding = finding_of(make_rule("mean_below", scorer="close"))
    assert (finding.state, finding.run) == (FIRING, first)


def test_a_newest_run_without_the_scorer_is_undecided(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(20))
    run_of(version, 2, letters(20), scorers=[scorer_of(version, "other")])
    finding = finding_of(make_rule("mean_below", scorer="close"))
    assert (finding.state, finding.sentence) == (UNDECIDED, "w2 was not scored by close.")


def test_while_the_newest_run_goes_on_nothing_is_said(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(0))
    newest = run_of(version, 2, letters(20))
    rule = make_rule()
    for state in (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING):
        Run.objects.update_or_create(pk=newest.pk, defaults={"state": state})
        assert evaluate_rule(rule, "a", timezone.now()) == EvaluateLater(None)
    Run.objects.filter(pk=newest.pk).update(state=RunState.CANCELLED)
    assert finding_of(rule).state == FIRING


def test_each_series_is_looked_at_by_itself(version: DatasetVersion, make_rule: MakeRule) -> None:
    run_of(version, 1, letters(0), series="a")
    run_of(version, 2, letters(20), series="b")
    rule = make_rule()
    assert (finding_of(rule, "a").state, finding_of(rule, "b").state) == (FIRING, FINE)


def line(version: DatasetVersion, last: float, n: int = 8, verdicts: str = "") -> None:
    """So many weeks of means about 0.8, and a last one."""
    for week in range(n - 1):
        run_of(version, week, letters(20), 0.8 + 0.01 * (week % 2))
    run_of(version, n - 1, verdicts or letters(20), last)


@pytest.mark.parametrize(
    ("last", "n", "verdicts", "state"),
    [
        (0.8, 8, "", FINE),
        (0.95, 9, "", FINE),  # above the limits
        (0.5, 9, "", FIRING),
        (0.5, 7, "", FIRING),  # before there are limits
        (0.8, 7, "", FINE),
        (0.5, 1, "", SILENT),
        (0.5, 9, letters(18, rest="e"), UNDECIDED),
    ],
)
def test_a_decrease_of_the_drift_lines_level(
    version: DatasetVersion, make_rule: MakeRule, last: float, n: int, verdicts: str, state: str
) -> None:
    line(version, last, n, verdicts)
    finding = finding_of(make_rule("out_of_limits", None, scorer="close"))
    assert finding.state == state, finding.sentence
    if state == FIRING:
        usual = sum(0.8 + 0.01 * (week % 2) for week in range(n - 1)) / (n - 1)
        assert (finding.value, finding.limit) == pytest.approx((0.5, usual))
        decreased = f"its level decreased with w{n - 1}, from {usual:.3f} to 0.500 (p < 0.001)."
        assert finding.sentence == f"The mean of close is 0.500 in w{n - 1} (n = 20): {decreased}"
    if state == SILENT:
        assert "no earlier comparable run" in finding.sentence


def test_a_lasting_decrease_ends_once_the_new_level_is_usual(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    line(version, 0.5, 10)
    rule = make_rule("out_of_limits", None, scorer="close")
    states = {9: finding_of(rule).state}
    for week in range(10, 18):
        run_of(version, week, letters(20), 0.5 + 0.01 * (week % 2))
        if week >= 15:
            states[week] = finding_of(rule).state
    assert states == {9: FIRING, 15: FIRING, 16: FINE, 17: FINE}


def test_a_run_that_is_not_measured_yet_is_awaited(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 5)
    line(version, 0.5, 10)
    rule = make_rule("out_of_limits", None, scorer="close")
    assert evaluate_rule(rule, "a", timezone.now()) == EvaluateLater(RETRY_SECONDS)
    job = Job.objects.get(kind=JobKind.MEASURE_DRIFT)
    job_queue.run_job(job)
    assert finding_of(rule).state == FIRING
    DriftResult.objects.all().delete()
    Job.objects.update(state=JobState.FAILED, problem="it failed with OSError")
    finding = finding_of(rule)
    assert (finding.state, finding.sentence) == (
        UNDECIDED, "w9 could not be measured: it failed with OSError.",
    )  # fmt: skip


def test_a_rule_made_before_any_run_leaves_each_series_to_itself(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule()
    run_of(version, 1, letters(0))
    assert finding_of(rule, "").state == FINE


def test_a_look_takes_few_queries(
    version: DatasetVersion, make_rule: MakeRule, django_assert_max_num_queries: Any
) -> None:
    """Fewer than there are runs."""
    line(version, 0.8, 9)
    rules = [
        make_rule("mean_below", 0.5, scorer="close"),
        make_rule("pass_rate_below", 0.5),
        make_rule("drop", None, scorer="close"),
        make_rule("regressions", 1),
        make_rule("out_of_limits", None, scorer="close"),
        make_rule("no_data", 1),
    ]
    for rule in rules:
        compare_and_find(rule)
    for rule in AlertRule.objects.select_related("dataset__team"):
        with django_assert_max_num_queries(7):
            finding_of(rule)


@pytest.mark.parametrize("missing", ["--", "es"])
def test_cases_without_an_output_leave_no_run_fine(
    version: DatasetVersion, make_rule: MakeRule, missing: str
) -> None:
    """Also where every run lacks the same ones: 2 of 20 are more than 5 %, 1 is not."""
    for number in range(2):
        run_of(version, number, "p" * 18 + missing)
    rules = [
        make_rule("mean_below", 0.1, scorer="close"),
        make_rule("pass_rate_below", 0.1),
        make_rule("drop", None),
        make_rule("drop", None, scorer="close"),
        make_rule("regressions", 1),
        make_rule("regressions", 1, scorer="close"),
        make_rule("out_of_limits", None, scorer="close"),
    ]
    for rule in rules:
        finding = compare_and_find(rule)
        assert (finding.state, "2 of 20 cases of w" in finding.sentence) == (UNDECIDED, True), rule
    for number in range(2, 4):
        run_of(version, number, "p" * 19 + "-")
    assert {compare_and_find(rule).state for rule in rules} <= {FINE, SILENT}


def date_all(when: datetime) -> None:
    OutputSet.objects.update(dated=when)
    Run.objects.update(finished_at=when)


@pytest.mark.parametrize(
    ("age_days", "limit", "state"),
    [(0.5, 1, FINE), (0.99, 1, FINE), (1.01, 1, FIRING), (6, 7, FINE), (30, 7, FIRING)],
)
def test_no_run_for_days(
    version: DatasetVersion, make_rule: MakeRule, age_days: float, limit: int, state: str
) -> None:
    now = timezone.now()
    run = run_of(version, 1, letters(20))
    date_all(now - timedelta(days=age_days))
    finding = finding_of(make_rule("no_data", limit, series="a"))
    assert (finding.state, finding.run) == (state, run)
    assert finding.value == pytest.approx(age_days, abs=0.01)
    due = now + timedelta(days=limit - age_days)
    look_at = None if state == FIRING else pytest.approx(due, abs=timedelta(seconds=9))
    assert finding.evaluate_at == look_at


@pytest.mark.parametrize(
    ("more", "state"), [({"series": "later"}, FIRING), ({"series": ""}, SILENT)]
)
def test_a_series_that_had_ended_is_awaited_only_by_its_name(
    version: DatasetVersion, make_rule: MakeRule, more: dict[str, Any], state: str
) -> None:
    run_of(version, 1, letters(20), series="later")
    date_all(timezone.now() - timedelta(days=90))
    assert finding_of(make_rule("no_data", 7, **more), "later").state == state


def test_a_series_without_any_run_is_awaited_from_the_rule_on(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule("no_data", 2)
    finding = finding_of(rule, "")
    assert (finding.state, finding.run) == (FINE, None)
    rule.created_at -= timedelta(days=3)
    finding = finding_of(rule, "")
    assert finding.state == FIRING
    assert finding.sentence == "No run for 3 days: none has come since the rule was made."


def test_a_date_in_the_future_hides_no_missing_run(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(20))
    now = timezone.now()
    OutputSet.objects.update(dated=now + timedelta(days=300), created_at=now - timedelta(days=3))
    assert finding_of(make_rule("no_data", 2, series="a")).state == FIRING
