"""Alerts: to look at; rules are changed on the team's pages. No secret, no webhook's path."""

from __future__ import annotations

from django.contrib import admin

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


@admin.register(rows.AlertRule)
class AlertRuleAdmin(ReadOnlyAdmin):
    list_display = ["condition", "dataset", "series", "team", "webhook_host", "paused_at"]
    list_filter = ["kind", "team"]
    search_fields = ["dataset__name", "series", "scorer"]
    list_select_related = ["dataset", "team"]
    exclude = ["webhook_url", "sealed_secret"]
    readonly_fields = ["webhook_host"]


@admin.register(rows.AlertWatch)
class AlertWatchAdmin(ReadOnlyAdmin):
    list_display = ["rule", "series", "state", "run", "seen_at", "look_at"]
    list_filter = ["state"]
    search_fields = ["rule__dataset__name", "series", "sentence"]
    list_select_related = ["rule__dataset", "run"]


@admin.register(rows.Alert)
class AlertAdmin(ReadOnlyAdmin):
    list_display = ["sentence", "rule", "series", "state", "opened_at", "resolved_at"]
    list_filter = ["state", "rule__team"]
    search_fields = ["sentence", "series", "rule__dataset__name"]
    list_select_related = ["rule__dataset"]


@admin.register(rows.AlertDelivery)
class AlertDeliveryAdmin(ReadOnlyAdmin):
    list_display = ["event", "channel", "target_shown", "state", "tries", "error", "happened_at"]
    list_filter = ["state", "channel"]
    search_fields = ["rule__dataset__name", "error"]
    list_select_related = ["rule__dataset"]
    exclude = ["target"]
    readonly_fields = ["target_shown"]
