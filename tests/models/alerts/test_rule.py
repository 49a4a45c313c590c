"""Alert rules: what may be wanted, what is kept of it, and what the audit is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from scoring.models import (
    Alert,
    AlertKind,
    AlertRule,
    AlertWatch,
    AuditEntry,
    Dataset,
    Member,
    Team,
    User,
)
from scoring.models.alerts.rule import RuleExistsError
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run
from tests.support.undone import undone

HOOK = "https://hooks.example.org/T0/secret-path?token=abc"


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    return make_dataset([{"expected": "yes"}]).dataset


@pytest.fixture
def scored(dataset: Dataset, make_outputs: MakeOutputs) -> Dataset:
    """With a run by the scorer `close` in each of the series a and b."""
    for series in ("a", "b"):
        finished_run(make_outputs(dataset.versions.get(), ["yes"], series=series))
    return dataset


def define(dataset: Dataset, by: User | None = None, **more: Any) -> AlertRule:
    wanted = {"kind": AlertKind.PASS_RATE_BELOW, "limit": 0.9} | more
    return AlertRule.objects.define(dataset.team, dataset, by=by, **wanted).rule


def actions() -> list[str]:
    entries = AuditEntry.objects.filter(action__startswith="alert_rule").order_by("pk")
    return [entry.action for entry in entries]


def test_each_kind_takes_its_limit(scored: Dataset, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, float | None]] = [
        ("mean_below", "close", 0.8),
        ("mean_below", "close", 1),
        ("pass_rate_below", "", 0.5),
        ("pass_rate_below", "close", 0.5),
        ("drop", "", None),
        ("drop", "close", 0.02),
        ("regressions", "", 0),
        ("regressions", "close", 12),
        ("out_of_limits", "close", None),
        ("no_data", "", 7),
    ]
    for kind, scorer, limit in cases:
        with subtests.test(kind=kind, scorer=scorer, limit=limit), undone():
            made = define(scored, kind=kind, scorer=scorer, limit=limit)
            kept = AlertRule.objects.get(pk=made.pk)
            assert (kept.kind, kept.scorer, kept.limit) == (kind, scorer, limit)


def test_what_makes_no_sense_is_refused_by_its_field(
    scored: Dataset, charlie: User, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("kind", {"kind": "sometimes", "limit": None}),
        ("limit", {"limit": None}),
        ("limit", {"limit": 0}),
        ("limit", {"limit": 1.01}),
        ("limit", {"limit": float("nan")}),
        ("limit", {"limit": float("inf")}),
        ("limit", {"limit": True}),
        ("limit", {"limit": "0.9"}),
        ("limit", {"kind": "drop", "limit": -0.1}),
        ("limit", {"kind": "regressions", "limit": 1.5}),
        ("limit", {"kind": "regressions", "limit": -1}),
        ("limit", {"kind": "out_of_limits", "scorer": "close", "limit": 0.5}),
        ("limit", {"kind": "no_data", "limit": 0}),
        ("limit", {"kind": "no_data", "limit": 366}),
        ("scorer", {"kind": "mean_below", "scorer": ""}),
        ("scorer", {"kind": "out_of_limits", "scorer": "", "limit": None}),
        ("scorer", {"scorer": "nobody"}),
        ("scorer", {"kind": "no_data", "limit": 2, "scorer": "close"}),
        ("renotify_hours", {"renotify_hours": -1}),
        ("renotify_hours", {"renotify_hours": 1.5}),
        ("renotify_hours", {"renotify_hours": 24 * 365 + 1}),
        ("series", {"series": "s" * 121}),
        ("emails", {"emails": ["charlie@example.org"]}),
        ("emails", {"emails": ["nobody@example.org"]}),
        ("by_site", {"by_site": False}),
    ]
    for field, wanted in cases:
        with subtests.test(field=field, wanted=wanted), undone():
            with pytest.raises(ValidationError) as refused:
                define(scored, **wanted)
            assert list(refused.value.message_dict) == [field]
            assert not AlertRule.objects.exists()
            assert actions() == []


def test_each_change_is_audited_without_the_webhooks_path(dataset: Dataset, alice: User) -> None:
    rule = define(dataset, alice, webhook_url=HOOK)
    rule.change(by=alice, limit=0.5, emails=[" Alice@Example.org", "alice@example.org"])
    rule.change(by=alice)
    rule.change(by=alice, webhook_url="https://hooks.example.org/T0/other-path")
    rule.replace_secret(by=alice)
    rule.pause(by=alice)
    rule.pause(by=alice)
    rule.resume(by=alice)
    rule.remove(by=alice)
    rule.restore(by=alice)
    assert actions() == [
        "alert_rule.created",
        "alert_rule.changed",
        "alert_rule.changed",
        "alert_rule.secret_replaced",
        "alert_rule.paused",
        "alert_rule.resumed",
        "alert_rule.deleted",
        "alert_rule.restored",
    ]
    entries = AuditEntry.objects.order_by("pk")
    assert {entry.actor for entry in entries} == {alice}
    assert (entries[1].old["limit"], entries[1].new["limit"]) == (0.9, 0.5)
    assert entries[1].new["emails"] == ["alice@example.org"]
    assert entries[0].new["webhook"] == "hooks.example.org …=abc"
    assert entries[2].new["webhook"] == "hooks.example.org …path"
    assert entries[2].new["secret_replaced"] is True
    kept = json.dumps(list(entries.values("old", "new", "target_name")))
    assert "T0" not in kept


def test_a_refused_change_changes_nothing(dataset: Dataset, alice: User) -> None:
    rule = define(dataset, alice)
    with pytest.raises(ValidationError):
        rule.change(by=alice, limit=7, renotify_hours=3)
    assert (rule.limit, rule.renotify_hours) == (0.9, 24)
    assert actions() == ["alert_rule.created"]


def test_a_rule_watches_its_series_or_all_there_are(
    scored: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, list[str]]] = [("", ["a", "b"]), ("b", ["b"]), ("later", ["later"])]
    for series, watched in cases:
        with subtests.test(series=series, watched=watched), undone():
            rule = define(scored, series=series)
            due = AlertWatch.objects.due()
            assert sorted(watch.series for watch in due) == watched
            assert {watch.rule for watch in due} == {rule}


def test_a_rule_over_no_run_yet_watches_for_any(dataset: Dataset) -> None:
    define(dataset, kind="no_data", limit=1)
    assert [watch.series for watch in AlertWatch.objects.due()] == [""]


def test_alerts_of_series_no_longer_watched_end(scored: Dataset, alice: User) -> None:
    rule = define(scored)
    for series in ("a", "b"):
        Alert.objects.create(rule=rule, series=series, sentence="low")
    rule.change(by=alice, series="a")
    assert [alert.series for alert in Alert.objects.unresolved()] == ["a"]
    assert [watch.series for watch in rule.watches.all()] == ["a"]


def test_a_rule_concerns_runs_of_its_series_and_dataset(
    scored: Dataset, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    every, only_b = define(scored), define(scored, series="b")
    define(make_dataset([{}], name="Another").dataset)
    runs = {run.output_set.series: run for run in scored.team.runs.all()}
    assert list(AlertRule.objects.watching(runs["a"])) == [every]
    assert set(AlertRule.objects.watching(runs["b"])) == {every, only_b}


def test_a_team_has_so_many_rules(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.models.alerts.rule.MAX_RULES", 1)
    define(dataset)
    with pytest.raises(ValidationError, match="at most 1 alert rules"):
        define(dataset, limit=0.5)


def test_a_rule_that_is_there_already_is_refused_and_named(
    scored: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[dict[str, Any]] = [
        {},
        {"series": "a"},
        {"scorer": "close"},
        {"kind": "drop", "limit": None},
    ]
    for wanted in cases:
        with subtests.test(wanted=wanted), undone():
            made = define(scored, **wanted)
            with pytest.raises(RuleExistsError) as refused:
                define(scored, renotify_hours=1, **wanted)
            assert refused.value.rule == made
            assert f"The rule “{made}” watches just this" in refused.value.messages[0]
            made.remove(by=None)
            assert define(scored, **wanted).limit == made.limit


def test_no_change_makes_a_rule_like_another(scored: Dataset) -> None:
    first, second = define(scored), define(scored, limit=0.5)
    with pytest.raises(RuleExistsError):
        second.change(by=None, limit=0.9)
    assert AlertRule.objects.get(pk=second.pk).limit == 0.5
    AlertRule.objects.filter(pk=second.pk).update(limit=0.9)  # made before this was refused
    second.refresh_from_db()
    second.change(by=None, renotify_hours=1)
    assert first.renotify_hours != second.renotify_hours


def test_another_teams_dataset_is_refused(dataset: Dataset, charlie: User) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    with pytest.raises(ValidationError) as refused:
        AlertRule.objects.define(elsewhere, dataset, by=charlie, kind="no_data", limit=1)
    assert list(refused.value.message_dict) == ["dataset"]


def test_no_limit_gets_past_the_database(dataset: Dataset) -> None:
    rule = define(dataset)
    for limit in (-1, 2e6, float("inf")):
        with transaction.atomic(), pytest.raises(IntegrityError):
            AlertRule.objects.filter(pk=rule.pk).update(limit=limit)


def test_members_see_the_teams_rules_and_strangers_none(
    dataset: Dataset, bob: User, charlie: User
) -> None:
    rule = define(dataset)
    assert list(AlertRule.objects.visible_to(bob)) == [rule]
    assert not AlertRule.objects.visible_to(charlie).exists()
    Member.objects.filter(user=bob).delete()
    assert not AlertRule.objects.visible_to(bob).exists()


@pytest.mark.parametrize("count", [1, 30])
def test_the_list_takes_one_query(
    scored: Dataset, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    rules = [define(scored, limit=0.5 + number / 100) for number in range(count)]
    Alert.objects.create(rule=rules[0], series="a", sentence="low")
    with django_assert_num_queries(1):
        listed = [(str(rule), rule.open_count) for rule in AlertRule.objects.for_list()]  # type: ignore[attr-defined]
    assert sum(open_count for _, open_count in listed) == 1
    assert listed[0][0] == "Answers: pass rate below 50\u202f%"


def test_a_rule_says_when_it_fires(scored: Dataset, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"kind": "mean_below", "scorer": "close", "limit": 0.8}, "mean of close below 0.8"),
        ({"kind": "drop", "limit": None}, "statistically significant drop of the pass rate"),
        (
            {"kind": "drop", "scorer": "close", "limit": 0.02},
            "statistically significant drop of close, at least 0.02",
        ),
        ({"kind": "regressions", "limit": 0}, "more than 0 cases broken"),
        ({"kind": "pass_rate_below", "limit": 0.07}, "pass rate below 7\u202f%"),
        (
            {"kind": "regressions", "scorer": "close", "limit": 2},
            "more than 2 cases broken by close",
        ),
        (
            {"kind": "out_of_limits", "scorer": "close", "limit": None},
            "level of close decreased",
        ),
        ({"kind": "no_data", "limit": 1}, "no run for 1 day"),
        ({"kind": "no_data", "limit": 14}, "no run for 14 days"),
    ]
    for wanted, words in cases:
        with subtests.test(wanted=wanted, words=words), undone():
            assert define(scored, **wanted).condition == words


def test_a_rule_comes_back_unless_another_watches_the_same_by_now(
    dataset: Dataset, alice: User
) -> None:
    rule = define(dataset, alice)
    rule.remove(by=alice)
    twin = define(dataset, alice)
    with pytest.raises(RuleExistsError) as refused:
        rule.restore(by=alice)
    assert refused.value.rule == twin
    assert "alert_rule.restored" not in actions()
    twin.change(by=alice, series="another")
    rule.restore(by=alice)
    rule.restore(by=alice)
    assert actions().count("alert_rule.restored") == 1
    assert AlertRule.objects.count() == 2
