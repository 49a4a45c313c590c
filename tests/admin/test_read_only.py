"""What the site wrote is shown in Django's admin without secrets and cannot be changed there."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring import models as rows
from scoring.models import Alert, AlertDelivery, AlertRule
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.undone import undone


def test_a_run_is_listed_and_found_with_its_dataset(
    admin: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    for name in ("Invoices", "Greetings"):
        outputs = make_outputs(make_dataset([{"input": "x"}], name=name), ["x"])
        rows.Run.objects.create(team=outputs.version.dataset.team, output_set=outputs, name="w46")
    url = reverse("admin:scoring_run_changelist")
    with CaptureQueriesContext(connection) as captured:
        both = admin.get(url, {"o": "2"}).text
    assert both.index(">Greetings<") < both.index(">Invoices<")
    assert not [query for query in captured if 'FROM "scoring_dataset" WHERE' in query["sql"]]
    found = admin.get(url, {"q": "Invoices"}).text
    assert ">Invoices<" in found
    assert ">Greetings<" not in found


def test_what_the_site_wrote_cannot_be_added_by_hand(
    admin: Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["score", "case", "output", "run", "auditentry", "shard"]
    for kind in cases:
        with subtests.test(kind=kind), undone():
            assert admin.get(reverse(f"admin:scoring_{kind}_add")).status_code == 403


HOOK = "https://hooks.example.org/T0/secret-path"


@pytest.fixture
def rule(make_dataset: MakeDataset) -> AlertRule:
    dataset = make_dataset([{}]).dataset
    wanted = {"kind": "no_data", "limit": 1, "webhook_url": HOOK}
    made = AlertRule.objects.define(dataset.team, dataset, by=None, **wanted).rule
    alert = Alert.objects.create(rule=made, series="a", sentence="No run for 2 days.")
    AlertDelivery.objects.create(
        rule=made,
        alert=alert,
        channel="webhook",
        target=made.webhook_target,
        event="opened",
        happened_at=timezone.now(),
    )
    return made


def test_rows_are_shown_without_what_is_secret_and_cannot_be_changed(
    admin: Client, rule: AlertRule, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["alertrule", "alertwatch", "alert", "alertdelivery"]
    for kind in cases:
        with subtests.test(kind=kind), undone():
            rows = {"alertrule": AlertRule, "alertwatch": rule.watches.model}
            row = {**rows, "alert": Alert, "alertdelivery": AlertDelivery}[kind].objects.get()  # type: ignore[attr-defined]
            page = reverse(f"admin:scoring_{kind}_change", args=[row.pk])
            for url in (reverse(f"admin:scoring_{kind}_changelist"), page):
                shown = admin.get(url)
                assert shown.status_code == 200
                assert "secret-path" not in shown.text
                assert rule.encrypted_secret not in shown.text
                assert rule.encrypted_webhook not in shown.text
            if kind in {"alertrule", "alertdelivery"}:
                assert "hooks.example.org …path" in admin.get(page).text
            assert admin.post(page, {}).status_code == 403
            assert admin.get(reverse(f"admin:scoring_{kind}_add")).status_code == 403
