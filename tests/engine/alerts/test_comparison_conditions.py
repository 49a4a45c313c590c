"""The kinds that look at a run beside its baseline, with verdicts counted by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.alerts import comparison_conditions, schedule_evaluations, tick
from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import EvaluateLater
from scoring.engine.jobs import job_queue
from scoring.engine.runs import lifecycle
from scoring.models import Alert, AlertWatch, Baseline, DatasetVersion, Job, JobState, Run, User
from tests.support.drift_runs import run_again, scorer_of
from tests.support.fixtures.alert_rules import (
    CASES,
    FINE,
    FIRING,
    SILENT,
    UNDECIDED,
    MakeRule,
    compare_and_find,
    finding_of,
    letters,
    pass_time,
    run_of,
    sent_events,
)


def flipped(before: DatasetVersion, broke: int, fixed: int = 0, rest: str = "p") -> tuple[Run, Run]:
    """Two weeks: of the cases so many break, so many are fixed, and `rest` is said of the rest."""
    same = rest * (CASES - broke - fixed)
    first = run_of(before, 1, "p" * broke + "f" * fixed + same)
    return first, run_of(before, 2, "f" * broke + "p" * fixed + same)


@pytest.mark.parametrize(
    ("limit", "broke", "fixed", "rest", "state"),
    [
        (0, 0, 5, "p", FINE),
        (0, 1, 0, "p", FIRING),
        (0, 1, 9, "p", FIRING),
        (3, 3, 0, "p", FINE),
        (3, 4, 0, "p", FIRING),
        (3, 20, 0, "p", FIRING),
        (3, 0, 0, "e", UNDECIDED),
        (3, 10, 0, "e", UNDECIDED),
    ],
)
def test_more_cases_broken_than(
    version: DatasetVersion,
    make_rule: MakeRule,
    limit: int,
    broke: int,
    fixed: int,
    rest: str,
    state: str,
) -> None:
    flipped(version, broke, fixed, rest)
    for scorer in ("", "close"):
        finding = compare_and_find(make_rule("regressions", limit, scorer=scorer))
        assert finding.state == state
        if state != UNDECIDED:
            assert finding.value == broke
            assert finding.sentence.startswith("w2 against w1: ")


@pytest.mark.parametrize(
    ("limit", "broke", "fixed", "state"),
    [
        # The exact McNemar test, two-sided: 5 of 5 give 2 / 2^5 = 0.0625, 6 of 6 give 0.03125.
        (None, 5, 0, FINE),
        (None, 6, 0, FIRING),
        (None, 0, 6, FINE),
        (None, 10, 10, FINE),
        (0.3, 6, 0, FIRING),
        (0.31, 6, 0, FINE),
    ],
)
def test_a_drop_larger_than_chance(
    version: DatasetVersion,
    make_rule: MakeRule,
    limit: float | None,
    broke: int,
    fixed: int,
    state: str,
) -> None:
    flipped(version, broke, fixed)
    for scorer in ("", "close"):
        finding = compare_and_find(make_rule("drop", limit, scorer=scorer))
        assert finding.state == state, finding.sentence
        assert finding.value == pytest.approx((broke - fixed) / CASES)


def test_a_first_run_has_nothing_to_drop_from(version: DatasetVersion, make_rule: MakeRule) -> None:
    run_of(version, 1, letters(3))
    for kind, limit in (("drop", None), ("regressions", 0)):
        finding = finding_of(make_rule(kind, limit))
        assert finding.state == SILENT
        assert finding.sentence == "There is no earlier run to compare w1 with."


def test_the_pinned_run_is_the_measure(version: DatasetVersion, make_rule: MakeRule) -> None:
    rule = make_rule("regressions", 0)
    good = run_of(version, 1, letters(20))
    run_of(version, 2, letters(10))
    run_of(version, 3, letters(10))
    assert compare_and_find(rule).state == FINE
    Baseline.objects.pin(good, by=None)
    finding = compare_and_find(rule)
    assert (finding.state, finding.value, finding.sentence[:15]) == (FIRING, 10, "w3 against w1: ")


def test_scoring_outputs_again_is_no_step_in_time(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(20))
    worse = run_of(version, 2, letters(10))
    again = run_again(worse.output_set, 0.5, letters(10))
    finding = compare_and_find(make_rule("regressions", 0))
    assert (finding.state, finding.run, finding.value) == (FIRING, again, 10)


@pytest.mark.parametrize("kind", ["drop", "regressions"])
def test_another_version_of_the_scorer_is_no_measure(
    version: DatasetVersion, make_rule: MakeRule, kind: str
) -> None:
    scorer = scorer_of(version)
    run_of(version, 1, letters(20))
    scorer.revise({"case_sensitive": True}, by=None)
    run_of(version, 2, letters(0))
    finding = compare_and_find(
        make_rule(kind, 0 if kind == "regressions" else None, scorer="close")
    )
    assert finding.state == UNDECIDED
    assert "w1 was scored by version 1 of close and w2 by version 2" in finding.sentence


def test_a_comparison_that_failed_is_undecided(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    flipped(version, 9)
    rule = make_rule("drop", None)
    later = EvaluateLater(comparison_conditions.RETRY_SECONDS)
    assert [evaluate_rule(rule, "a", timezone.now()) for _ in range(3)] == [later] * 3
    assert Job.objects.count() == 1
    Job.objects.update(state=JobState.FAILED, problem="it failed with MemoryError")
    finding = finding_of(rule)
    assert finding.state == UNDECIDED
    assert finding.sentence == "w2 could not be compared: it failed with MemoryError."


def compare_and_look() -> None:
    """What the worker does within some seconds of the end of a run."""
    tick()
    for job in Job.objects.unfinished():
        job_queue.run_job(job)
    pass_time(timedelta(seconds=comparison_conditions.RETRY_SECONDS + 1))
    tick()


@pytest.mark.parametrize(
    ("kind", "limit", "passed", "events"),
    [
        ("drop", None, [20, 10, 10, 20], ["opened", "resolved"]),
        ("drop", None, [20, 18, 20], []),
        ("regressions", 3, [20, 10, 10, 20], ["opened", "resolved"]),
        ("regressions", 3, [20, 10, 5, 10, 19], ["opened", "resolved"]),
        ("regressions", 3, [20, 10, 12, 11], ["opened"]),
        ("regressions", 3, [20, 18, 20], []),
    ],
)
def test_a_drop_that_stays_is_not_over(
    version: DatasetVersion,
    make_rule: MakeRule,
    kind: str,
    limit: int | None,
    passed: list[int],
    events: list[str],
) -> None:
    """A week is as bad as the one before, and still worse than that which the alert began after."""
    make_rule(kind, limit, series="a")
    for number, count in enumerate(passed):
        schedule_evaluations([run_of(version, number, letters(count))])
        compare_and_look()
        assert not AlertWatch.objects.exclude(evaluate_at=None).exists()
    assert sent_events() == events
    assert {str(alert.baseline) for alert in Alert.objects.all()} <= {"w0"}


def test_a_new_level_is_accepted_by_pinning_it(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    make_rule("regressions", 0, series="a")
    for number, count in enumerate([20, 10, 10]):
        schedule_evaluations([run_of(version, number, letters(count))])
        compare_and_look()
    assert sent_events() == ["opened"]
    Baseline.objects.pin(Run.objects.get(name="w1"), by=None)
    compare_and_look()
    assert sent_events() == ["opened", "resolved"]


def test_an_alert_whose_baseline_is_gone_goes_by_the_run_before(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule("regressions", 0, series="a")
    for number, count in enumerate([20, 10, 10]):
        schedule_evaluations([run_of(version, number, letters(count))])
        compare_and_look()
    lifecycle.delete_run(Run.objects.get(name="w0"), alice)
    compare_and_look()
    assert sent_events() == ["opened", "resolved"]
