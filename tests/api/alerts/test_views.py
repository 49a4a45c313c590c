"""Alert rules are made and changed through the API, and alerts are read and acknowledged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.models import (
    Alert,
    AlertRule,
    AlertWatch,
    AuditEntry,
    DatasetVersion,
    IdempotencyKey,
    Member,
    Role,
    Team,
    User,
)
from tests.api.conftest import API, MISSING, Api, ApiOf, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.undone import undone

HOOK = "https://hooks.example.org/services/T0/B1"
SHAPE = [
    "id",
    "dataset",
    "series",
    "scorer",
    "kind",
    "limit",
    "warning_limit",
    "condition",
    "renotify_hours",
    "by_site",
    "emails",
    "webhook_host",
    "webhook_last_four",
    "webhook_format",
    "paused",
    "watches",
    "created_at",
]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    version = make_dataset([{"key": "q1"}])
    run_in_week(version, 1, letters="p", series="bot")
    return version


@pytest.fixture
def body(version: DatasetVersion) -> dict[str, Any]:
    dataset = str(version.dataset.uuid)
    return {"dataset": dataset, "kind": "mean_below", "scorer": "close", "limit": 0.8}


@pytest.fixture
def rule(team: Team, version: DatasetVersion) -> AlertRule:
    return AlertRule.objects.define(
        team, version.dataset, by=None, kind="drop", series="bot", webhook_url=HOOK
    ).rule


def fires(rule: AlertRule, **fields: Any) -> Alert:
    return Alert.objects.create(rule=rule, **{"series": "bot", "sentence": "It fell."} | fields)


def test_a_rule_is_made_and_read(alices: Api, bobs: Api, body: dict[str, Any]) -> None:
    sent = body | {"webhook_url": HOOK, "emails": ["bob@example.org"], "series": "bot"}
    response = alices.post("alerts/rules/", sent)
    assert response.status_code == 201
    made = response.json()
    assert list(made) == SHAPE
    assert made["condition"] == "mean of close below 0.8"
    assert (made["webhook_host"], made["paused"]) == ("hooks.example.org", False)
    assert made["webhook_last_four"] == HOOK[-4:]
    assert [(each["series"], each["state"]) for each in made["watches"]] == [("bot", "new")]
    assert "/services/" not in response.text
    assert bobs.get(f"alerts/rules/{made['id']}/").json() == made
    assert bobs.get("alerts/rules/").json()["results"] == [made]
    assert AuditEntry.objects.get(action="alert_rule.created").actor


def test_a_webhook_has_a_format(alices: Api, body: dict[str, Any]) -> None:
    made = alices.post("alerts/rules/", body | {"webhook_url": HOOK}).json()
    assert made["webhook_format"] == "json"
    address = f"alerts/rules/{made['id']}/"
    assert alices.patch(address, {"webhook_format": "teams"}).json()["webhook_format"] == "teams"
    assert alices.patch(address, {"limit": 0.7}).json()["webhook_format"] == "teams"
    refused = alices.patch(address, {"webhook_format": "telegram"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "webhook_format")


def test_a_rule_that_is_there_already_is_named(
    alices: Api, body: dict[str, Any], rule: AlertRule
) -> None:
    first = alices.post("alerts/rules/", body).json()
    again = alices.post("alerts/rules/", body | {"renotify_hours": 1})
    alike = {name: body[name] for name in ("kind", "scorer", "limit")} | {"series": ""}
    changed = alices.patch(f"alerts/rules/{rule.uuid}/", alike)
    for answer in (again, changed):
        told = answer.json()
        assert (answer.status_code, told["code"], told["id"]) == (409, "rule_exists", first["id"])
        assert "Answers: mean of close below 0.8" in told["message"]
    assert AlertRule.objects.count() == 2
    assert AlertRule.objects.get(pk=rule.pk).kind == "drop"


def test_a_bad_rule_is_refused_with_its_place(
    alices: Api, body: dict[str, Any], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({"kind": "guess"}, 422, [("kind", "invalid_choice")]),
        ({"limit": None}, 422, [("limit", "invalid")]),
        ({"limit": 80}, 422, [("limit", "invalid")]),
        ({"limit": "0.8"}, 400, [("limit", "invalid")]),
        ({"limit": True}, 400, [("limit", "invalid")]),
        ({"kind": "regressions", "limit": 1.5}, 422, [("limit", "invalid")]),
        ({"kind": "out_of_limits", "limit": 1}, 422, [("limit", "invalid")]),
        ({"scorer": ""}, 422, [("scorer", "invalid")]),
        ({"scorer": "gone"}, 422, [("scorer", "invalid")]),
        ({"kind": "no_data", "limit": 3}, 422, [("scorer", "invalid")]),
        ({"renotify_hours": -1}, 422, [("renotify_hours", "min_value")]),
        ({"renotify_hours": 1.5}, 400, [("renotify_hours", "invalid")]),
        ({"by_site": False}, 422, [("by_site", "invalid")]),
        ({"emails": ["charlie@example.org"]}, 422, [("emails", "invalid")]),
        ({"emails": [1]}, 400, [("emails[0]", "invalid")]),
        ({"webhook_url": "http://example.org/"}, 422, [("webhook_url", "invalid")]),
        ({"webhook_url": "https://127.0.0.1/"}, 422, [("webhook_url", "invalid")]),
        ({"paused": True}, 400, [("paused", "unknown_field")]),
        ({"colour": 1}, 400, [("colour", "unknown_field")]),
        ({"dataset": MISSING}, 404, [("dataset", "not_found")]),
        ({"dataset": "x"}, 400, [("dataset", "invalid")]),
    ]
    for changed, status, errors in cases:
        with subtests.test(changed=changed, status=status, errors=errors), undone():
            response = alices.post("alerts/rules/", body | changed)
            assert (response.status_code, codes(response)) == (status, errors)
            assert not AlertRule.objects.exists()


def test_a_refused_webhook_is_not_shown(
    alices: Api, body: dict[str, Any], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["http://hooks.example.org", "https://127.0.0.1", "https://u:p@h"]
    for start in cases:
        with subtests.test(start=start), undone():
            response = alices.post(
                "alerts/rules/", body | {"webhook_url": f"{start}/T0/secret-path"}
            )
            assert (response.status_code, codes(response)) == (422, [("webhook_url", "invalid")])
            assert "secret-path" not in response.text


def test_no_webhook_is_shown_by_any_endpoint(alices: Api, rule: AlertRule) -> None:
    fires(rule)
    urls = ["alerts/rules/", f"alerts/rules/{rule.uuid}/", "alerts/", "schema/"]
    texts = [alices.get(url).text for url in urls]
    texts.append(alices.patch(f"alerts/rules/{rule.uuid}/", {"webhook_url": f"{HOOK}/new"}).text)
    assert all("/services/" not in text and rule.encrypted_webhook not in text for text in texts)


def test_a_dataset_of_another_team_is_not_there(charlies: Api, body: dict[str, Any]) -> None:
    response = charlies.post("alerts/rules/", body)
    assert (response.status_code, codes(response)) == (404, [("dataset", "not_found")])


def test_a_person_in_two_teams_stays_in_the_one_the_address_names(
    browser_of: Callable[[User], Client], alice: User, rule: AlertRule, body: dict[str, Any]
) -> None:
    Alert.objects.create(rule=rule, sentence="It fell.")
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.ADMIN)
    browser = browser_of(alice)
    for team, count in (("support", 1), ("elsewhere", 0)):
        assert len(browser.get(f"{API}alerts/", {"team": team}).json()["results"]) == count
    url = f"{API}alerts/rules/?team=elsewhere"
    refused = browser.post(url, body, content_type="application/json")
    assert (refused.status_code, codes(refused)) == (404, [("dataset", "not_found")])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_only_admins_make_rules(
    api_of: ApiOf, alice: User, body: dict[str, Any], role: Role
) -> None:
    assert api_of(alice, role).post("alerts/rules/", body).status_code == 403
    assert not AlertRule.objects.exists()


def test_what_a_patch_leaves_out_stays(alices: Api, rule: AlertRule) -> None:
    url = f"alerts/rules/{rule.uuid}/"
    changed = alices.patch(url, {"limit": 0.1, "paused": True}).json()
    assert (changed["limit"], changed["kind"], changed["paused"]) == (0.1, "drop", True)
    now = AlertRule.objects.get()
    assert (now.webhook_url, now.series) == (HOOK, "bot")
    assert alices.patch(url, {"paused": False}).json()["paused"] is False
    refused = alices.patch(url, {"limit": 2, "paused": True})
    assert (refused.status_code, codes(refused)) == (422, [("limit", "invalid")])
    assert not AlertRule.objects.get().is_paused
    assert alices.patch(url, {"dataset": MISSING}).status_code == 400


def test_a_webhooks_secret_is_shown_when_it_is_made_and_kept_nowhere(
    alices: Api, rule: AlertRule
) -> None:
    made = alices.post(f"alerts/rules/{rule.uuid}/secret/").json()
    assert made == {"webhook_secret": AlertRule.objects.get().secret()}
    alices.patch(f"alerts/rules/{rule.uuid}/", {"webhook_url": ""})
    gone = alices.post(f"alerts/rules/{rule.uuid}/secret/")
    assert (gone.status_code, codes(gone)) == (422, [("webhook_url", "invalid")])


def test_a_rule_sent_twice_is_made_once_and_neither_secret_nor_url_is_kept(
    alices: Api, body: dict[str, Any]
) -> None:
    sent = body | {"webhook_url": HOOK}
    once, again = (alices.post("alerts/rules/", sent, Idempotency_Key="k") for _ in range(2))
    assert once.json() == again.json()
    rule = AlertRule.objects.get()
    kept = str(IdempotencyKey.objects.values())
    assert rule.secret() not in kept
    assert HOOK not in kept
    assert "/services/" not in kept


def test_a_deleted_rule_is_gone_with_its_alerts(alices: Api, rule: AlertRule) -> None:
    fires(rule)
    url = f"alerts/rules/{rule.uuid}/"
    assert alices.delete(url).status_code == 204
    assert [alices.get(url).status_code, alices.delete(url).status_code] == [404, 404]
    assert alices.get("alerts/").json()["results"] == []
    assert AlertRule.with_deleted.deleted().get() == rule


def test_alerts_are_listed_by_what_became_of_them(bobs: Api, rule: AlertRule) -> None:
    firing = fires(rule, value=0.2, limit=0.1)
    undecided = fires(rule, series="other", state="undecided", note="No verdicts.")
    resolved = fires(rule, series="third", resolved_at=timezone.now())
    everything = bobs.get("alerts/").json()["results"]
    assert [each["id"] for each in everything] == [
        str(each.uuid) for each in (resolved, undecided, firing)
    ]
    for state, alert in (("firing", firing), ("undecided", undecided), ("resolved", resolved)):
        (found,) = bobs.get("alerts/", state=state).json()["results"]
        assert (found["id"], found["state"]) == (str(alert.uuid), state)
    bad = bobs.get("alerts/", state="open")
    assert (bad.status_code, codes(bad)) == (422, [("state", "invalid_choice")])
    assert bobs.get("alerts/", states="firing").status_code == 400


def test_a_reviewer_acknowledges_once(ritas: Api, bobs: Api, rule: AlertRule) -> None:
    alert = fires(rule)
    url = f"alerts/{alert.uuid}/acknowledge/"
    assert bobs.post(url).status_code == 403
    first = ritas.post(url).json()
    assert first["acknowledged_by"] == "rita@example.org"
    assert ritas.post(url).json() == first
    assert AuditEntry.objects.filter(action="alert.acknowledged").count() == 1
    Alert.objects.update(resolved_at=timezone.now())
    over = ritas.post(url)
    assert (over.status_code, over.json()["code"]) == (409, "alert_over")
    assert over.json()["id"] == str(alert.uuid)


def test_every_answer_has_the_shape_that_the_schema_gives(alices: Api, rule: AlertRule) -> None:
    alert, one = fires(rule), f"alerts/rules/{rule.uuid}/"
    check_answer(alices.get("alerts/"), "alerts/", "get")
    check_answer(alices.get("alerts/rules/"), "alerts/rules/", "get")
    check_answer(alices.get(one), "alerts/rules/{uid}/", "get")
    check_answer(alices.patch(one, {"limit": 0.2}), "alerts/rules/{uid}/", "patch")
    check_answer(alices.post(f"{one}secret/"), "alerts/rules/{uid}/secret/", "post")
    url = f"alerts/{alert.uuid}/acknowledge/"
    check_answer(alices.post(url), "alerts/{uid}/acknowledge/", "post")


def test_strangers_find_nothing(charlies: Api, rule: AlertRule) -> None:
    alert = fires(rule)
    assert charlies.get("alerts/").json()["results"] == []
    assert charlies.get("alerts/rules/").json()["results"] == []
    url = f"alerts/rules/{rule.uuid}/"
    answers = [
        charlies.get(url),
        charlies.patch(url, {}),
        charlies.delete(url),
        charlies.post(f"{url}secret/"),
        charlies.post(f"alerts/{alert.uuid}/acknowledge/"),
    ]
    assert {each.status_code for each in answers} == {404}


@pytest.mark.parametrize(("path", "queries"), [("alerts/", 4), ("alerts/rules/", 6)])
def test_a_list_costs_the_same_for_one_row_and_for_fifty(
    alices: Api, team: Team, version: DatasetVersion, path: str, queries: int
) -> None:
    run = run_in_week(version, 2, letters="p", series="bot")
    alices.get(path)  # notes the token's use
    for number in range(50):
        wanted = {"kind": "regressions", "limit": number}
        rule = AlertRule.objects.define(team, version.dataset, by=None, **wanted).rule
        AlertWatch.objects.filter(rule=rule).update(run=run)
        fires(rule, run=run, resolved_by_run=run)
        if number in {0, 49}:
            with CaptureQueriesContext(connection) as found:
                assert len(alices.get(path).json()["results"]) == number + 1
            assert len(found) == queries, [query["sql"] for query in found]
