"""Django's own admin for every row: look anywhere, change only what a person may change.

What the engine wrote is read-only here. Every change made in the admin leaves an audit entry in
the same transaction; a suite's threshold changes only with a reason.
"""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db import models, transaction
from django.forms import ModelForm
from django.http import HttpRequest

from scoring import models as rows
from scoring.models.scorer import UNIT


def _plain(value: Any) -> Any:
    """A form's value as the audit keeps it: rows by their text, the rest as text too."""
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _actor(request: HttpRequest) -> rows.User:
    return cast("rows.User", request.user)  # the admin lets nobody else in


class AuditedAdmin(admin.ModelAdmin[Any]):
    """Records every addition, change and deletion, with old and new values."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        changed = [name for name in form.changed_data if "password" not in name]
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            rows.AuditEntry.objects.record(
                self.team_of(obj),
                _actor(request),
                f"{self.opts.model_name}.{'changed' if change else 'created'}",
                obj,
                old={name: _plain(form.initial.get(name)) for name in changed} if change else {},
                new={name: _plain(form.cleaned_data[name]) for name in changed},
            )

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with transaction.atomic():
            rows.AuditEntry.objects.record(
                self.team_of(obj), _actor(request), f"{self.opts.model_name}.deleted", obj
            )
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    @staticmethod
    def team_of(obj: Any) -> rows.Team | None:
        """The team an object belongs to; None for people and for a team on its way out."""
        team = getattr(obj, "team", None)
        return team if isinstance(team, rows.Team) else None


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows that only the site itself writes."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class NewUserForm(AdminUserCreationForm[rows.User]):
    class Meta:
        model = rows.User
        fields = ["email", "name"]


@admin.register(rows.User)
class UserAdmin(AuditedAdmin, auth_admin.UserAdmin[rows.User]):
    add_form = NewUserForm
    list_display = ["email", "name", "is_active", "is_staff", "last_login"]
    search_fields = ["email", "name"]
    list_filter = ["is_active", "is_staff"]
    ordering = ["email"]
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["email", "password", "name"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (None, {"fields": ["email", "name", "usable_password", "password1", "password2"]})
    ]


class MemberInline(admin.TabularInline[Any, Any]):
    model = rows.Member
    extra = 0
    autocomplete_fields = ["user"]


@admin.register(rows.Team)
class TeamAdmin(AuditedAdmin):
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MemberInline]


@admin.register(rows.Member)
class MemberAdmin(AuditedAdmin):
    list_display = ["user", "team", "role", "joined_at"]
    list_filter = ["role", "team"]
    search_fields = ["user__email", "team__name"]
    list_select_related = ["user", "team"]
    autocomplete_fields = ["user", "team"]


@admin.register(rows.Token)
class TokenAdmin(AuditedAdmin):
    """Tokens are issued on the command line or a page, where the secret is shown once."""

    list_display = ["name", "team", "user", "role", "expires_at", "revoked_at", "last_used_at"]
    list_filter = ["team", "role"]
    search_fields = ["name", "user__email"]
    list_select_related = ["team", "user"]
    fields = ["name", "team", "user", "role", "last_four", "expires_at", "revoked_at"]
    readonly_fields = ["team", "user", "last_four"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False


@admin.register(rows.Dataset)
class DatasetAdmin(AuditedAdmin):
    list_display = ["name", "team", "latest", "suite", "created_at"]
    list_filter = ["team"]
    search_fields = ["name", "uuid"]
    list_select_related = ["team", "latest__dataset", "suite"]
    fields = ["name", "team", "suite", "latest", "uuid", "created_by", "created_at"]
    readonly_fields = ["team", "latest", "uuid", "created_by", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False


@admin.register(rows.Scorer)
class ScorerAdmin(AuditedAdmin):
    """A config changes on the scorer's page, where it makes a new version."""

    list_display = ["name", "team", "type", "threshold", "current"]
    list_filter = ["type", "team"]
    search_fields = ["name", "uuid"]
    list_select_related = ["team", "current__scorer"]
    fields = ["name", "team", "type", "threshold", "current", "uuid", "created_by", "created_at"]
    readonly_fields = ["team", "type", "current", "uuid", "created_by", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False


class EntryInline(admin.TabularInline[Any, Any]):
    model = rows.SuiteEntry
    extra = 0
    fields = ["position", "scorer", "threshold"]
    readonly_fields = ["position", "scorer", "threshold"]
    show_change_link = True
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(rows.Suite)
class SuiteAdmin(AuditedAdmin):
    """Thresholds are changed one at a time, behind each entry's link."""

    list_display = ["name", "team", "revision"]
    list_filter = ["team"]
    search_fields = ["name", "uuid"]
    fields = ["name", "team", "revision", "uuid"]
    readonly_fields = ["team", "revision", "uuid"]
    inlines = [EntryInline]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False


class ThresholdForm(ModelForm[rows.SuiteEntry]):
    """A new threshold and the reason for it."""

    threshold = forms.FloatField(
        min_value=0,
        max_value=1,
        validators=UNIT,
        help_text="From 0 to 1. Counts for runs started from now on; old runs keep theirs.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept with the change, for whoever asks why later.",
    )

    class Meta:
        model = rows.SuiteEntry
        fields = ["threshold"]

    def clean_threshold(self) -> float:
        new: float = self.cleaned_data["threshold"]
        if new == self.initial["threshold"]:
            raise forms.ValidationError(f"The threshold is {new} already.")
        return new


@admin.register(rows.SuiteEntry)
class SuiteEntryAdmin(admin.ModelAdmin[rows.SuiteEntry]):
    """Where an administrator changes a suite's threshold."""

    form = ThresholdForm
    list_display = ["suite", "scorer", "threshold"]
    list_filter = ["suite"]
    search_fields = ["suite__name", "scorer__name"]
    list_select_related = ["suite", "scorer"]
    fields = ["suite", "scorer", "threshold", "reason", "earlier_changes"]
    readonly_fields = ["suite", "scorer", "earlier_changes"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    @admin.display(description="Earlier changes")
    def earlier_changes(self, entry: rows.SuiteEntry) -> str:
        changes = entry.suite.threshold_changes.filter(scorer=entry.scorer)
        lines = (
            f"{change.changed_at:%Y-%m-%d %H:%M} {change.changed_by or 'the site'}: "
            f"{change.old} → {change.new}. {change.reason}"
            for change in changes.select_related("changed_by")
        )
        return "\n".join(lines) or "none"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: ARG002
        obj.threshold = form.initial["threshold"]
        obj.change_threshold(
            form.cleaned_data["threshold"], by=_actor(request), reason=form.cleaned_data["reason"]
        )


@admin.register(rows.AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "action", "target_type", "target_name", "team"]
    list_filter = ["action", "team"]
    search_fields = ["target_name", "target_id", "actor__email"]
    list_select_related = ["actor", "team"]
    date_hierarchy = "at"


@admin.register(rows.Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = [
        "name",
        "team",
        "state",
        "pass_count",
        "fail_count",
        "error_count",
        "created_at",
    ]
    list_filter = ["state", "team"]
    search_fields = ["name", "uuid"]
    list_select_related = ["team"]


@admin.register(rows.OutputSet)
class OutputSetAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "version", "series", "dated", "state", "output_count"]
    list_filter = ["state", "series"]
    search_fields = ["name", "series", "uuid"]
    list_select_related = ["version__dataset"]


@admin.register(rows.DatasetVersion)
class DatasetVersionAdmin(ReadOnlyAdmin):
    list_display = ["dataset", "number", "state", "case_count", "source_name", "published_at"]
    list_filter = ["state"]
    search_fields = ["dataset__name", "uuid", "content_hash"]
    list_select_related = ["dataset"]


@admin.register(rows.Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = [
        "file_name",
        "team",
        "kind",
        "state",
        "row_count",
        "problem_count",
        "created_at",
    ]
    list_filter = ["state", "kind", "team"]
    search_fields = ["file_name", "dataset_name"]
    list_select_related = ["team"]


@admin.register(rows.Case)
class CaseAdmin(ReadOnlyAdmin):
    list_display = ["key", "version", "position"]
    search_fields = ["key"]
    list_select_related = ["version__dataset"]


@admin.register(rows.Output)
class OutputAdmin(ReadOnlyAdmin):
    list_display = ["case", "output_set", "trial", "error"]
    search_fields = ["case__key"]
    list_select_related = ["case", "output_set"]


@admin.register(rows.Score)
class ScoreAdmin(ReadOnlyAdmin):
    list_display = ["scorer", "output", "status", "score", "verdict", "code"]
    list_filter = ["status", "verdict"]
    search_fields = ["code", "reason"]
    list_select_related = ["scorer", "output__case"]


@admin.register(rows.ScorerVersion)
class ScorerVersionAdmin(ReadOnlyAdmin):
    list_display = ["scorer", "number", "type", "created_by", "created_at"]
    list_filter = ["type"]
    search_fields = ["scorer__name", "fingerprint"]
    list_select_related = ["scorer", "created_by"]


@admin.register(rows.RunScorer)
class RunScorerAdmin(ReadOnlyAdmin):
    list_display = ["name", "run", "version", "threshold"]
    search_fields = ["name", "run__name"]
    list_select_related = ["run", "version__scorer"]


@admin.register(rows.RunSummary)
class RunSummaryAdmin(ReadOnlyAdmin):
    list_display = ["scorer", "n", "scored", "errors", "skipped", "passed", "mean"]
    search_fields = ["scorer__name", "scorer__run__name"]
    list_select_related = ["scorer"]


@admin.register(rows.CaseVerdict)
class CaseVerdictAdmin(ReadOnlyAdmin):
    list_display = ["run", "position", "trial", "verdict"]
    list_filter = ["verdict"]
    search_fields = ["run__name"]
    list_select_related = ["run"]


@admin.register(rows.Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ["run", "number", "kind", "started_by", "created_at", "finished_at"]
    list_filter = ["kind"]
    search_fields = ["run__name"]
    list_select_related = ["run", "started_by"]


@admin.register(rows.Shard)
class ShardAdmin(ReadOnlyAdmin):
    list_display = ["attempt", "number", "output_count", "tries", "done_at"]
    search_fields = ["attempt__run__name"]
    list_select_related = ["attempt__run"]


@admin.register(rows.ThresholdChange)
class ThresholdChangeAdmin(ReadOnlyAdmin):
    list_display = ["suite", "scorer", "old", "new", "reason", "changed_by", "changed_at"]
    search_fields = ["suite__name", "scorer__name", "reason"]
    list_select_related = ["suite", "scorer", "changed_by"]


@admin.register(rows.Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "started_at", "seen_at"]
    search_fields = ["name"]
