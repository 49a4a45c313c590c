"""Alerts open, go on and end by what the newest run says, and each is told once."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.alerts import evaluation, messages, purge_old, schedule_evaluations, tick
from scoring.engine.alerts.finding import EvaluateLater, Finding
from scoring.engine.jobs import job_queue
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import lifecycle, planning
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertWatch,
    AuditEntry,
    Baseline,
    DatasetVersion,
    Event,
    Job,
    JobKind,
    Run,
    User,
)
from tests.conftest import MakeOutputs
from tests.support.concurrency import SECONDS, call_at_once
from tests.support.drift_runs import scorer_of
from tests.support.fixtures.alert_rules import (
    BAD,
    CASES,
    GOOD,
    UNKNOWN,
    MakeRule,
    letters,
    open_alert,
    pass_time,
    run_of,
    sent_events,
    watch,
    week,
)
from tests.support.run_states import queued_run

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("weeks", "events", "standings"),
    [
        ([GOOD], [], []),
        ([BAD], ["opened"], ["firing"]),
        ([BAD, BAD], ["opened"], ["firing"]),
        ([BAD, GOOD], ["opened", "resolved"], ["resolved"]),
        ([BAD, GOOD, GOOD], ["opened", "resolved"], ["resolved"]),
        ([BAD, GOOD, BAD], ["opened", "resolved", "opened"], ["resolved", "firing"]),
        ([UNKNOWN], ["opened"], ["undecided"]),
        ([UNKNOWN, UNKNOWN], ["opened"], ["undecided"]),
        ([UNKNOWN, BAD], ["opened", "opened"], ["firing"]),
        ([UNKNOWN, GOOD], ["opened", "resolved"], ["resolved"]),
        ([BAD, UNKNOWN], ["opened"], ["firing"]),
        ([BAD, UNKNOWN, GOOD], ["opened", "resolved"], ["resolved"]),
        ([BAD, UNKNOWN, BAD], ["opened"], ["firing"]),
    ],
)
def test_a_series_of_weeks(
    version: DatasetVersion,
    make_rule: MakeRule,
    weeks: list[str],
    events: list[str],
    standings: list[str],
) -> None:
    make_rule(series="a")
    for number, verdicts in enumerate(weeks):
        week(version, number, verdicts)
    assert sent_events() == events
    assert [alert.standing for alert in Alert.objects.order_by("pk")] == standings


ODD = letters(17)  # below 0.9, not below 0.8


@pytest.mark.parametrize(
    ("weeks", "events", "standings"),
    [
        ([GOOD], [], []),
        ([ODD], ["opened"], ["warning"]),
        ([ODD, ODD], ["opened"], ["warning"]),
        ([BAD], ["opened"], ["firing"]),
        ([ODD, BAD], ["opened", "opened"], ["firing"]),
        ([BAD, ODD], ["opened"], ["warning"]),
        ([BAD, ODD, BAD], ["opened", "opened"], ["firing"]),
        ([BAD, ODD, GOOD], ["opened", "resolved"], ["resolved"]),
        ([ODD, UNKNOWN], ["opened"], ["warning"]),
        ([UNKNOWN, ODD], ["opened", "opened"], ["warning"]),
    ],
)
def test_a_rule_warns_before_it_fires(
    version: DatasetVersion,
    make_rule: MakeRule,
    weeks: list[str],
    events: list[str],
    standings: list[str],
) -> None:
    make_rule(series="a", warning_limit=0.9)
    for number, verdicts in enumerate(weeks):
        week(version, number, verdicts)
    assert sent_events() == events
    assert [alert.standing for alert in Alert.objects.order_by("pk")] == standings


def test_a_warning_says_so_and_is_not_repeated(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    rule = make_rule(series="a", warning_limit=0.9)
    assert rule.condition == "pass rate below 80\u202f%, warning at 90\u202f%"
    week(version, 0, ODD)
    alert = open_alert()
    assert (alert.limit, alert.value, alert.remind_at) == (0.9, 0.85, None)
    text = AlertDelivery.objects.get().message["text"]
    assert "warning: The pass rate is 85.0\u202f% in w0 (n = 20), below 90\u202f%." in text
    alert.acknowledge(by=alice)
    week(version, 1, BAD)
    alert = open_alert()
    assert (alert.limit, alert.state, alert.acknowledged_at) == (0.8, "firing", None)
    assert alert.remind_at is not None


def test_an_alert_says_what_was_seen(version: DatasetVersion, make_rule: MakeRule) -> None:
    rule = make_rule(series="a")
    bad = week(version, 1, BAD)
    alert = open_alert()
    assert (alert.rule, alert.run, alert.value, alert.limit) == (rule, bad, 0.25, 0.8)
    assert alert.sentence == "The pass rate is 25.0\u202f% in w1 (n = 20), below 80\u202f%."
    week(version, 2, UNKNOWN)
    alert.refresh_from_db()
    assert alert.sentence == "The pass rate is 25.0\u202f% in w1 (n = 20), below 80\u202f%."
    assert alert.note.startswith("15 of 20 cases of w2 have no output, have an error")
    good = week(version, 3, GOOD)
    alert.refresh_from_db()
    assert (alert.resolved_by_run, alert.remind_at) == (good, None)
    assert alert.note == "The pass rate is 100.0\u202f% in w3 (n = 20), not below 80\u202f%."
    assert (watch().state, watch().run, watch().evaluate_at) == ("fine", good, None)


def test_an_old_run_that_comes_late_changes_nothing(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    make_rule(series="a")
    week(version, 50, GOOD)
    for number in range(3):
        week(version, number, BAD)
    assert sent_events() == []
    week(version, 51, BAD)
    week(version, 4, GOOD)
    assert sent_events() == ["opened"]
    assert str(open_alert().run) == "w51"


def test_a_paused_rule_is_silent_and_catches_up(
    version: DatasetVersion, firing_rule: AlertRule
) -> None:
    firing_rule.pause(by=None)
    pass_time(50 * HOUR)
    week(version, 2, GOOD)
    assert sent_events() == ["opened"]
    firing_rule.resume(by=None)
    tick()
    assert sent_events() == ["opened", "resolved"]


def test_a_changed_limit_is_looked_at_soon(version: DatasetVersion, make_rule: MakeRule) -> None:
    rule = make_rule(series="a")
    week(version, 1, letters(15))
    assert open_alert().value == 0.75
    rule.change(by=None, limit=0.7)
    tick()
    assert sent_events() == ["opened", "resolved"]


def test_a_new_rule_looks_at_what_is_there(version: DatasetVersion, make_rule: MakeRule) -> None:
    run_of(version, 1, BAD, series="a")
    run_of(version, 1, GOOD, series="b")
    make_rule()
    tick()
    assert open_alert().series == "a"
    run_of(version, 1, BAD, series="c")
    schedule_evaluations([Run.objects.latest("pk")])
    tick()
    assert sorted(alert.series for alert in Alert.objects.unresolved()) == ["a", "c"]


def test_a_rule_made_before_any_run_watches_the_series_that_come(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule("no_data", 1)
    AlertRule.objects.update(created_at=timezone.now() - 50 * HOUR)
    tick()
    assert open_alert().series == ""
    run = run_of(version, 1, GOOD)
    type(run.output_set).objects.update(dated=timezone.now())
    Run.objects.update(finished_at=timezone.now())
    schedule_evaluations([run])
    tick()
    assert sent_events() == ["opened", "resolved"]
    assert [each.series for each in rule.watches.all()] == ["a"]


def test_a_run_that_is_taken_away_is_as_if_it_never_was(
    version: DatasetVersion, make_rule: MakeRule, alice: User
) -> None:
    make_rule(series="a")
    week(version, 1, GOOD)
    bad = week(version, 2, BAD)
    lifecycle.delete_run(bad, alice)
    tick()
    assert sent_events() == ["opened", "resolved"]
    lifecycle.restore_run(bad, alice)
    tick()
    assert sent_events() == ["opened", "resolved", "opened"]


def test_another_baseline_is_looked_at_soon(version: DatasetVersion, make_rule: MakeRule) -> None:
    make_rule("regressions", 0, series="a")
    first = week(version, 1, GOOD)
    assert watch().evaluate_at is None
    Baseline.objects.pin(first, by=None)
    assert watch().evaluate_at
    tick()
    assert watch().evaluate_at is None
    Baseline.objects.get().unpin(by=None)
    assert watch().evaluate_at


def test_while_runs_are_compared_the_look_is_put_off(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    make_rule("regressions", 0, series="a")
    week(version, 1, GOOD)
    week(version, 2, BAD)
    assert (str(watch().run), sent_events()) == ("w1", [])
    assert watch().evaluate_at
    job_queue.run_job(Job.objects.get())
    pass_time(timedelta(seconds=6))
    tick()
    assert sent_events() == ["opened"]
    assert open_alert().sentence == "w2 against w1: 15 cases broke, more than 0."


def test_what_nothing_can_be_said_of_any_more_ends_without_being_fine(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    scorer = scorer_of(version)
    make_rule("out_of_limits", None, scorer="close", series="a")
    for number in range(9):
        run_of(version, number, GOOD, 0.8)
    week(version, 9, GOOD, mean=0.2)
    assert open_alert().state == "firing"
    scorer.revise({"case_sensitive": True}, by=None)
    week(version, 10, GOOD, mean=0.2)
    alert = Alert.objects.get()
    assert (alert.standing, alert.resolved_by_run) == ("resolved", None)
    (message,) = AlertDelivery.objects.filter(event=Event.RESOLVED).values_list("message")
    assert "the alert is closed, for nothing can be told any more" in message[0]["text"]


def test_of_several_workers_one_looks(version: DatasetVersion, make_rule: MakeRule) -> None:
    make_rule(series="a")
    schedule_evaluations([run_of(version, 1, BAD)])
    mine, theirs = list(AlertWatch.objects.due()), list(AlertWatch.objects.due())
    assert [evaluation.evaluate_watch(each) for each in (*mine, *theirs)] == [True, False]
    assert sent_events() == ["opened"]


def test_a_run_that_ends_during_a_look_is_looked_at_too(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(series="a")
    schedule_evaluations([run_of(version, 1, BAD)])
    judge = evaluation.evaluate_rule

    def meanwhile(rule: AlertRule, series: str, now: datetime, since: Run | None) -> Any:
        finding = judge(rule, series, now, since)
        monkeypatch.setattr(evaluation, "evaluate_rule", judge)
        schedule_evaluations([run_of(version, 2, GOOD)])
        return finding

    monkeypatch.setattr(evaluation, "evaluate_rule", meanwhile)
    tick()
    assert sent_events() == []  # w1 is not the newest any more
    tick()
    assert str(watch().run) == "w2"
    assert sent_events() == []


class PowerGoesError(BaseException):
    """Nothing catches it."""


def test_a_look_that_was_cut_short_is_done_again(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(series="a")
    schedule_evaluations([run_of(version, 1, BAD)])

    def goes(*_: Any) -> None:
        raise PowerGoesError

    with monkeypatch.context() as patched:
        patched.setattr(messages, "notify", goes)
        with pytest.raises(PowerGoesError):
            tick()
    assert not Alert.objects.exists()
    pass_time(timedelta(seconds=evaluation.EVALUATION_SECONDS))
    tick()
    assert sent_events() == ["opened"]


def test_a_look_that_fails_stops_no_other_and_is_tried_again(
    version: DatasetVersion,
    make_rule: MakeRule,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_rule(series="a")
    make_rule(series="b")
    for series in ("a", "b"):
        schedule_evaluations([run_of(version, 1, BAD, series=series)])
    judge = evaluation.evaluate_rule

    def faulty(rule: AlertRule, series: str, now: datetime, since: Run | None) -> Any:
        if series == "a":
            raise RuntimeError("out of luck")
        return judge(rule, series, now, since)

    with monkeypatch.context() as patched:
        patched.setattr(evaluation, "evaluate_rule", faulty)
        tick()
    assert "could not be looked at" in caplog.text
    assert open_alert().series == "b"
    tick()
    assert Alert.objects.count() == 1
    pass_time(evaluation.RETRY_AFTER)
    tick()
    assert Alert.objects.count() == 2


def test_later_without_a_time_waits_for_the_next_run(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(series="a")
    monkeypatch.setattr(evaluation, "evaluate_rule", lambda *_: EvaluateLater())
    tick()
    assert (watch().evaluate_at, watch().state) == (None, "new")


def test_the_end_of_a_run_takes_two_queries_and_none_more_for_many_rules(
    version: DatasetVersion, make_rule: MakeRule, django_assert_num_queries: Any
) -> None:
    run = run_of(version, 1, GOOD)
    with django_assert_num_queries(1):
        schedule_evaluations([run])
    for number in range(20):
        make_rule(limit=0.8 + number / 100)
    with django_assert_num_queries(3):
        schedule_evaluations([run])


def test_a_tick_with_nothing_due_takes_two_queries(
    version: DatasetVersion, make_rule: MakeRule, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        make_rule(limit=0.8 + number / 100)
    week(version, 1, BAD)
    with django_assert_num_queries(2):
        assert tick() == 0


def test_deleted_rules_are_gone_after_a_week_and_audited(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule, other = make_rule(series="a"), make_rule()
    week(version, 1, BAD)
    rule.remove(by=None)
    purge_old()
    assert AlertRule.with_deleted.count() == 2
    AlertRule.with_deleted.filter(pk=rule.pk).update(deleted_at=timezone.now() - 170 * HOUR)
    purge_old()
    assert list(AlertRule.with_deleted.all()) == [other]
    assert {alert.rule for alert in Alert.objects.all()} == {other}
    assert AuditEntry.objects.filter(action="alert_rule.purged").count() == 1


def test_what_was_sent_long_ago_is_forgotten(firing_rule: AlertRule) -> None:
    purge_old()
    assert AlertDelivery.objects.count() == 1
    AlertDelivery.objects.update(happened_at=timezone.now() - timedelta(days=91))
    purge_old()
    assert not AlertDelivery.objects.exists()


def test_the_end_of_a_run_is_looked_at(
    version: DatasetVersion, make_rule: MakeRule, make_outputs: MakeOutputs
) -> None:
    make_rule("mean_below", 0.9, scorer=scorer_of(version).name)
    run = queued_run(make_outputs(version, ["no"] * CASES))
    run_to_end(run, InlineExecutor())
    job_queue.run_waiting(run.team, JobKind.FOLLOW_UP)
    tick()
    assert (open_alert().series, str(open_alert().run)) == ("a", "w46")


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_cancelled_run_uncovers_the_one_before(
    version: DatasetVersion, make_rule: MakeRule, make_outputs: MakeOutputs, is_begun: bool
) -> None:
    run_of(version, 1, BAD)
    run = queued_run(make_outputs(version, ["no"] * CASES))
    make_rule(series="a")
    tick()
    assert (watch().state, sent_events()) == ("new", [])
    if is_begun:
        planning.plan_attempt(run)
    planning.cancel_run(run, by=None)
    run_to_end(run, InlineExecutor())
    job_queue.run_waiting(run.team, JobKind.FOLLOW_UP)
    tick()
    assert str(open_alert().run) == "w1"


@pytest.mark.django_db(transaction=True)
def test_an_acknowledgement_during_an_evaluation_is_kept(
    version: DatasetVersion, make_rule: MakeRule, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(series="a")
    week(version, 0, BAD)
    describe, people = evaluation._describe, []

    def describe_late(alert: Alert, finding: Finding) -> None:
        """Somebody acknowledges on another connection, or waits until the evaluation is stored."""
        act = Thread(target=lambda: call_at_once(acknowledge, 1))
        people.append(act)
        act.start()
        act.join(SECONDS)
        describe(alert, finding)

    def acknowledge() -> None:
        Alert.objects.select_related("rule__team").get().acknowledge(by=alice)

    monkeypatch.setattr(evaluation, "_describe", describe_late)
    week(version, 1, BAD)
    for act in people:
        act.join()
    assert len(people) == 1
    assert Alert.objects.get().acknowledged_by == alice
