"""Django's admin shows alerts, and neither a webhook's path nor its secret."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import Alert, AlertDelivery, AlertRule, User
from tests.conftest import PASSWORD, MakeDataset

HOOK = "https://hooks.example.org/T0/secret-path"


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org", PASSWORD))
    return client


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
        target=HOOK,
        event="opened",
        happened_at=timezone.now(),
    )
    return made


@pytest.mark.parametrize("kind", ["alertrule", "alertwatch", "alert", "alertdelivery"])
def test_rows_are_shown_without_what_is_secret_and_cannot_be_changed(
    admin: Client, rule: AlertRule, kind: str
) -> None:
    rows = {"alertrule": AlertRule, "alertwatch": rule.watches.model}
    row = {**rows, "alert": Alert, "alertdelivery": AlertDelivery}[kind].objects.get()  # type: ignore[attr-defined]
    page = reverse(f"admin:scoring_{kind}_change", args=[row.pk])
    for url in (reverse(f"admin:scoring_{kind}_changelist"), page):
        shown = admin.get(url)
        assert shown.status_code == 200
        assert "secret-path" not in shown.text
        assert rule.sealed_secret not in shown.text
    if kind in {"alertrule", "alertdelivery"}:
        assert "hooks.example.org" in admin.get(page).text
    assert admin.post(page, {}).status_code == 403
    assert admin.get(reverse(f"admin:scoring_{kind}_add")).status_code == 403
