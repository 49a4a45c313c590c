"""Rules that count broken cases leave waived ones out, as gates do, until the waiver's last day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.alerts import tick
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.regressions import count_regressions
from scoring.models import (
    Alert,
    AlertWatch,
    CaseDecision,
    CaseDecisionState,
    DatasetVersion,
    Output,
    Run,
    Scorer,
    User,
    Waiver,
)
from tests.support.drift_runs import scorer_of
from tests.support.fixtures.alert_rules import (
    FINE,
    FIRING,
    MakeRule,
    compare_and_find,
    finding_of,
    letters,
    pass_time,
    run_of,
    week,
)
from tests.support.waived_runs import waive

REJECTED = CaseDecisionState.REJECTED


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    """Of 20 cases, q0 to q19, the last three broke."""
    return run_of(version, 1, letters(20)), run_of(version, 2, letters(17))


@pytest.mark.parametrize("scorer", ["", "close"])
def test_waived_cases_do_not_count(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User, scorer: str
) -> None:
    rule = make_rule("regressions", 2, scorer=scorer)
    assert compare_and_find(rule).state == FIRING
    waive(runs[1], "q19", "close", alice)
    waive(runs[1], "q0", "close", alice)  # it did not break
    finding = finding_of(rule)
    by = f" by {scorer}" if scorer else ""
    assert (finding.state, finding.value) == (FINE, 2)
    assert finding.sentence == (
        f"w2 against w1: 2 cases broke{by} besides 1 waived one, no more than 2."
    )
    waive(runs[1], "q18", "close", alice)
    assert "1 case broke" in finding_of(rule).sentence
    assert "besides 2 waived ones" in finding_of(rule).sentence


@pytest.mark.parametrize("scorer", ["", "close"])
def test_expired_and_ended_waivers_count_again(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User, scorer: str
) -> None:
    rule = make_rule("regressions", 2, scorer=scorer)
    expired = waive(runs[1], "q19", "close", alice, days=-1)
    assert compare_and_find(rule).state == FIRING
    Waiver.objects.filter(pk=expired.pk).update(until=timezone.localdate())
    assert finding_of(rule).state == FINE  # its last day is included
    Waiver.objects.end(expired.dataset, [expired], by=alice)
    assert finding_of(rule).state == FIRING


@pytest.mark.parametrize("scorer", ["", "close"])
def test_a_rejected_case_counts_in_spite_of_its_waiver(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User, scorer: str
) -> None:
    rule = make_rule("regressions", 2, scorer=scorer)
    waive(runs[1], "q19", "close", alice)
    output = Output.objects.get(output_set=runs[1].output_set, case__key="q19")
    CaseDecision.objects.decide(runs, [output.pk], REJECTED, by=alice)
    assert (compare_and_find(rule).state, finding_of(rule).value) == (FIRING, 3)


@pytest.mark.parametrize("scorer", ["", "close"])
def test_a_waived_case_that_failed_before_excuses_no_other(
    version: DatasetVersion, make_rule: MakeRule, alice: User, scorer: str
) -> None:
    run_of(version, 1, letters(19))
    worse = run_of(version, 2, letters(17))
    waive(worse, "q19", "close", alice)
    finding = compare_and_find(make_rule("regressions", 1, scorer=scorer))
    assert (finding.state, finding.value) == (FIRING, 2)


def test_a_waiver_of_one_scorer_excuses_its_flip_and_not_the_case(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    """Each case that broke fails by two scorers; one of these is waived for q19."""
    scorers = [scorer_of(version, name) for name in ("close", "tone")]
    run_of(version, 1, letters(20), scorers=scorers)
    worse = run_of(version, 2, letters(17), scorers=scorers)
    waive(worse, "q19", "close", alice)
    by_close, by_tone, by_case = (
        make_rule("regressions", 0, scorer=scorer) for scorer in ("close", "tone", "")
    )
    assert compare_and_find(by_close).value == 2
    assert (finding_of(by_tone).value, finding_of(by_case).value) == (3, 3)


def test_a_rule_and_a_gate_count_alike(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User
) -> None:
    for key in ("q17", "q19"):
        waive(runs[1], key, "close", alice)
    waive(runs[1], "q18", "close", alice, days=-3)
    found = compare_and_find(make_rule("regressions", 0)).value
    assert found == count_regressions(runs[1], runs[0]).unwaived == 1


def test_a_waiver_for_another_scorer_excuses_nothing(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User
) -> None:
    Scorer.objects.define(runs[1].team, "tone", "exact_match", {}, by=alice)
    waive(runs[1], "q19", "tone", alice)
    for scorer in ("", "close"):
        assert compare_and_find(make_rule("regressions", 2, scorer=scorer)).state == FIRING


def test_a_drop_is_tested_over_all_cases(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    run_of(version, 1, letters(20))
    worse = run_of(version, 2, letters(10))
    rule = make_rule("drop", None)
    before = compare_and_find(rule)
    for number in range(10, 20):
        waive(worse, f"q{number}", "close", alice)
    assert finding_of(rule) == before


def test_a_waiver_ends_the_alert_and_its_end_opens_another(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule("regressions", 0, series="a")
    old = week(version, 1, letters(20))
    new = week(version, 2, letters(19))
    compare_runs(old, new)
    pass_time(timedelta(seconds=30))
    tick()
    assert Alert.objects.firing().count() == 1
    waiver = waive(new, "q19", "close", alice)
    tick()
    assert Alert.objects.firing().count() == 0
    Waiver.objects.end(waiver.dataset, [waiver], by=alice)
    tick()
    assert Alert.objects.firing().count() == 1


def test_the_rule_is_evaluated_on_the_day_after_the_first_waiver_ends(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule("regressions", 0, series="a")
    old = week(version, 1, letters(20))
    new = run_of(version, 2, letters(18))
    compare_runs(old, new)
    waive(new, "q18", "close", alice, days=9)
    waive(new, "q19", "close", alice, days=4)
    AlertWatch.objects.update(evaluate_at=timezone.now())
    tick()
    watch = AlertWatch.objects.get()
    assert (watch.state, watch.run) == (FINE, new)
    assert watch.evaluate_at is not None
    there = timezone.localtime(watch.evaluate_at)
    assert there.date() == timezone.localdate() + timedelta(days=5)
    assert (there.hour, there.minute) == (0, 0)


def test_waivers_are_looked_up_by_few_queries(
    runs: tuple[Run, Run],
    make_rule: MakeRule,
    alice: User,
    django_assert_max_num_queries: Any,
) -> None:
    rules = [make_rule("regressions", 0, scorer=scorer) for scorer in ("", "close")]
    for rule in rules:
        compare_and_find(rule)
    for key in ("q17", "q18", "q19"):
        waive(runs[1], key, "close", alice)
        for rule in rules:
            with django_assert_max_num_queries(15):
                finding_of(rule)


def test_a_waiver_without_an_end_gives_no_day_to_evaluate_again(
    runs: tuple[Run, Run], make_rule: MakeRule, alice: User
) -> None:
    rule = make_rule("regressions", 2)
    waive(runs[1], "q19", "close", alice)
    Waiver.objects.update(until=date.max)
    found = compare_and_find(rule)
    assert (found.value, found.evaluate_at) == (2, None)
