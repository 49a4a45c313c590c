"""Alert rules and alerts: what is sent and what is shown."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalsite.api.fields import (
    BodySerializer,
    BooleanField,
    IntegerField,
    NameField,
    NumberField,
    TextField,
)
from evalsite.api.pagination import PageQuery
from scoring.core.alert_limits import BOUNDS
from scoring.models import Alert, AlertKind, AlertRule, AlertWatch, WatchState, WebhookFormat
from scoring.models.alerts.alert import STATES
from scoring.models.alerts.rule import MAX_EMAILS, MAX_REMINDER_HOURS

LIMIT_HELP = "By kind: " + "; ".join(f"{kind}: {bound.text}" for kind, bound in BOUNDS.items())
WARNING_HELP = "In the unit of `limit`, and reached before it: the rule warns without firing."
KIND_NAMES = [str(kind) for kind in AlertKind]
FORMAT_NAMES = [str(form) for form in WebhookFormat]
STATE_NAMES = [str(state) for state in STATES]


class AlertQuery(PageQuery):
    """Which of a team's alerts are listed."""

    state = serializers.ChoiceField(STATE_NAMES, required=False, help_text="Defaults to all.")


class RuleSettings(BodySerializer):
    """What a rule may be told; what is left out keeps its value, or takes the default."""

    kind = serializers.ChoiceField(KIND_NAMES, required=False)
    series = NameField(
        required=False, allow_blank=True, help_text="Left out, every series by itself."
    )
    scorer = TextField(
        required=False,
        max_length=120,
        help_text="A scorer's name; left out, the cases' verdicts over all scorers.",
    )
    limit = NumberField(required=False, allow_null=True, help_text=LIMIT_HELP)
    warning_limit = NumberField(required=False, allow_null=True, help_text=WARNING_HELP)
    renotify_hours = IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_REMINDER_HOURS,
        help_text="People are told again after so long while it fires; 0 tells once.",
    )
    by_site = BooleanField(required=False, help_text="Told in the site.")
    emails = serializers.ListField(
        child=TextField(max_length=254),
        required=False,
        max_length=MAX_EMAILS,
        help_text="Addresses of members of the team.",
    )
    webhook_url = TextField(
        required=False,
        max_length=500,
        help_text="Alerts are posted there; never shown again. Empty for none.",
    )
    webhook_format = serializers.ChoiceField(
        FORMAT_NAMES,
        required=False,
        help_text="`json` for programs, or the message format of a channel of Slack or Teams.",
    )


class NewAlertRule(RuleSettings):
    dataset = serializers.UUIDField()
    kind = serializers.ChoiceField(KIND_NAMES)


class ChangedAlertRule(RuleSettings):
    paused = BooleanField(
        required=False, help_text="A paused rule looks at nothing and tells nobody."
    )


class WatchShape(serializers.ModelSerializer[AlertWatch]):
    """What a rule saw of a series last."""

    state = serializers.ChoiceField([str(state) for state in WatchState])
    run = serializers.UUIDField(source="run.uuid", allow_null=True, default=None)

    class Meta:
        model = AlertWatch
        fields = ["series", "state", "sentence", "run", "seen_at"]
        read_only_fields = fields


class AlertRuleShape(serializers.ModelSerializer[AlertRule]):
    """A rule. Of its webhook the host and the last four characters are shown."""

    id = serializers.UUIDField(source="uuid")
    dataset = serializers.UUIDField(source="dataset.uuid")
    kind = serializers.ChoiceField(KIND_NAMES)
    condition = serializers.CharField(help_text="When it fires, in words.")
    emails = serializers.ListField(child=serializers.CharField())
    webhook_host = serializers.CharField(allow_blank=True)
    webhook_last_four = serializers.CharField(allow_blank=True)
    webhook_format = serializers.ChoiceField(FORMAT_NAMES)
    paused = serializers.BooleanField(source="is_paused")
    watches = WatchShape(many=True)

    class Meta:
        model = AlertRule
        fields = [
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
        read_only_fields = fields


class SecretShape(serializers.Serializer[object]):
    webhook_secret = serializers.CharField(help_text="Shown this once.")


class AlertShape(serializers.ModelSerializer[Alert]):
    """One time a rule fired, from its firing to its end."""

    id = serializers.UUIDField(source="uuid")
    rule = serializers.UUIDField(source="rule.uuid")
    dataset = serializers.UUIDField(source="rule.dataset.uuid")
    state = serializers.ChoiceField(STATE_NAMES, source="standing")
    run = serializers.UUIDField(source="run.uuid", allow_null=True, default=None)
    resolved_by_run = serializers.UUIDField(
        source="resolved_by_run.uuid", allow_null=True, default=None
    )
    acknowledged_by = serializers.SerializerMethodField()

    class Meta:
        model = Alert
        fields = [
            "id",
            "rule",
            "dataset",
            "series",
            "state",
            "sentence",
            "note",
            "value",
            "limit",
            "run",
            "opened_at",
            "acknowledged_at",
            "acknowledged_by",
            "resolved_at",
            "resolved_by_run",
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "nullable": True})
    def get_acknowledged_by(self, alert: Alert) -> Any:
        return str(alert.acknowledged_by) if alert.acknowledged_by else None
