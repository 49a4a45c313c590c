"""What people may change here; a suite's threshold only with a reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.forms import AdminUserCreationForm
from django.forms import ModelForm
from django.http import HttpRequest

from scoring import models as rows
from scoring.admin.base import AuditedAdmin, actor
from scoring.models.scorer import UNIT


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
    ordering = ["suite__name", "position"]
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
            form.cleaned_data["threshold"], by=actor(request), reason=form.cleaned_data["reason"]
        )
