"""What people may change here; a suite's threshold only with a reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db import models, transaction
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from scoring import models as rows
from scoring.admin.base import AuditedAdmin, NotAdded, actor
from scoring.engine.team import members
from scoring.models.scorers.threshold_change import UNIT, StaleThresholdError


def _preview_link(url: str) -> SafeString:
    """To the page of the site that shows what other thresholds would do."""
    return format_html('<a href="{}">Preview on the site</a>', url)


class NewUserForm(AdminUserCreationForm[rows.User]):
    class Meta:
        model = rows.User
        fields = ["email", "name"]


class SecondFactorInline(NotAdded, admin.TabularInline[Any, Any]):
    """Removed for a person who has lost all of them; the audit log is told by the row's signals."""

    model = Authenticator
    verbose_name = "second factor"
    extra = 0
    fields = ["type", "created_at", "last_used_at"]
    readonly_fields = ["type", "created_at", "last_used_at"]


class SingleSignOnInline(NotAdded, admin.TabularInline[Any, Any]):
    """Removed where the provider's account is no longer the person's."""

    model = SocialAccount
    verbose_name = "single sign-on"
    verbose_name_plural = "single sign-on"
    extra = 0
    fields = ["uid", "date_joined", "last_login"]
    readonly_fields = ["uid", "date_joined", "last_login"]


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

    deleted_along = [rows.Member, rows.OutgoingMail]

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[type[Any]]:  # noqa: ARG002
        ways = (SecondFactorInline, SingleSignOnInline)
        return [way for way in ways if obj and way.model.objects.filter(user=obj).exists()]

    def rows_deleted_with(self, obj: rows.User) -> Iterable[models.Model]:
        return [*obj.memberships.select_related("team"), *obj.tokens.select_related("team")]

    def user_change_password(
        self,
        request: HttpRequest,
        id: str,  # noqa: A002  Django's name
        form_url: str = "",
    ) -> HttpResponse:
        """Keeps that the password changed, though neither the old nor the new one."""
        person = rows.User.objects.filter(pk=id)
        with transaction.atomic():
            before = person.values_list("password", flat=True).first()
            answer = super().user_change_password(request, id, form_url)
            after = person.first()
            if after and after.password != before:
                by = actor(request)
                rows.AuditEntry.objects.record(None, by, "password.changed", after)
        return answer


class MemberInline(NotAdded, admin.TabularInline[Any, Any]):
    model = rows.Member
    extra = 0
    fields = ["user", "role", "joined_at"]
    readonly_fields = ["user", "role", "joined_at"]
    show_change_link = True
    can_delete = False


@admin.register(rows.Team)
class TeamAdmin(AuditedAdmin):
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MemberInline]
    deleted_along = [
        rows.GroupRole,
        rows.Invitation,
        rows.JoinLink,
        rows.Member,
        rows.OutgoingMail,
        rows.RetentionPolicy,
    ]

    def rows_deleted_with(self, obj: rows.Team) -> Iterable[models.Model]:
        return [*obj.members.select_related("user"), *obj.tokens.all()]


class MemberForm(ModelForm[rows.Member]):
    """Keeps an admin in the team, as the team's own page does."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        is_last = self.instance.pk and members.is_last_admin(self.instance)
        if is_last and cleaned.get("role") != rows.Role.ADMIN:
            self.add_error("role", str(members.LastAdminError()))
        return cleaned


@admin.register(rows.Member)
class MemberAdmin(AuditedAdmin):
    """A member goes and changes as on the team's own page: sessions and tokens end with them."""

    form = MemberForm
    list_display = ["user", "team", "role", "joined_at"]
    list_filter = ["role", "team"]
    search_fields = ["user__email", "team__name"]
    list_select_related = ["user", "team"]
    autocomplete_fields = ["user", "team"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:  # noqa: ARG002
        return ["user", "team"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_kept = obj is not None and members.is_last_admin(obj)
        return not is_kept and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            super().save_model(request, obj, form, change)
            return
        role = rows.Role(obj.role)
        members.change_role(rows.Member.objects.get(pk=obj.pk), role, actor(request))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        members.remove_member(obj, actor(request))


@admin.register(rows.Token)
class TokenAdmin(NotAdded, AuditedAdmin):
    """Tokens are issued on the command line or a page, where the secret is shown once."""

    list_display = [
        "name",
        "team",
        "user",
        "role",
        "scopes",
        "expires_at",
        "revoked_at",
        "last_used_at",
    ]
    list_filter = ["team", "role"]
    search_fields = ["name", "user__email"]
    list_select_related = ["team", "user"]
    fields = ["name", "team", "user", "role", "scopes", "last_four", "expires_at", "revoked_at"]
    readonly_fields = ["team", "user", "scopes", "last_four"]


@admin.register(rows.Dataset)
class DatasetAdmin(NotAdded, AuditedAdmin):
    """The suite is chosen on the dataset's page, where a changed threshold asks for a reason."""

    list_display = ["name", "team", "latest", "suite", "created_at"]
    list_filter = ["team"]
    search_fields = ["name", "uuid"]
    list_select_related = ["team", "latest__dataset", "suite"]
    fields = ["name", "team", "suite", "latest", "uuid", "created_by", "created_at"]
    readonly_fields = ["team", "suite", "latest", "uuid", "created_by", "created_at"]


@admin.register(rows.Scorer)
class ScorerAdmin(NotAdded, AuditedAdmin):
    """A config changes on the scorer's page, where it makes a new version. Versions stay.

    The default threshold changes on a page of its own, which asks for a reason.
    """

    list_display = ["name", "team", "type", "threshold", "current"]
    list_filter = ["type", "team"]
    search_fields = ["name", "uuid"]
    list_select_related = ["team", "current__scorer"]
    readonly_fields = [
        *("team", "type", "threshold", "preview", "current"),
        *("uuid", "created_by", "created_at"),
    ]
    fields = ["name", *readonly_fields]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    @admin.display(description="Another default")
    def preview(self, scorer: rows.Scorer) -> SafeString:
        return _preview_link(reverse("scorer_threshold", args=[scorer.uuid]))


class EntryInline(NotAdded, admin.TabularInline[Any, Any]):
    model = rows.SuiteEntry
    extra = 0
    fields = ["position", "scorer", "threshold"]
    readonly_fields = ["position", "scorer", "threshold"]
    show_change_link = True
    can_delete = False


@admin.register(rows.Suite)
class SuiteAdmin(NotAdded, AuditedAdmin):
    """Thresholds are changed one at a time, behind each entry's link."""

    list_display = ["name", "team", "revision"]
    list_filter = ["team"]
    search_fields = ["name", "uuid"]
    fields = ["name", "team", "revision", "preview", "uuid"]
    readonly_fields = ["team", "revision", "preview", "uuid"]
    inlines = [EntryInline]

    @admin.display(description="Other thresholds")
    def preview(self, suite: rows.Suite) -> SafeString:
        return _preview_link(reverse("suite_thresholds", args=[suite.uuid]))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Not what is used: a new suite of that name would have other thresholds."""
        is_used = obj is not None and obj.is_used
        return not is_used and super().has_delete_permission(request, obj)


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
    seen = forms.FloatField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = rows.SuiteEntry
        fields = ["threshold"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["seen"] = self.instance.threshold

    def clean(self) -> dict[str, Any] | None:
        """Refuse a change of another threshold than the person saw; the next try means the new one.

        The admin calls it in the transaction that changes the threshold.
        """
        cleaned = super().clean()
        seen = self.cleaned_data.get("seen")
        try:
            self.instance.lock_threshold(self.initial["threshold"] if seen is None else seen)
        except StaleThresholdError as stale:
            self.data = {**self.data, "seen": stale.current}
            raise forms.ValidationError(str(stale)) from None
        return cleaned

    def clean_threshold(self) -> float:
        new: float = self.cleaned_data["threshold"]
        if new == self.initial["threshold"]:
            raise forms.ValidationError(f"The threshold is {new} already.")
        return new


@admin.register(rows.SuiteEntry)
class SuiteEntryAdmin(NotAdded, admin.ModelAdmin[rows.SuiteEntry]):
    """Where an administrator changes a suite's threshold."""

    form = ThresholdForm
    list_display = ["suite", "scorer", "threshold"]
    ordering = ["suite__name", "position"]
    list_filter = ["suite"]
    search_fields = ["suite__name", "scorer__name"]
    list_select_related = ["suite", "scorer"]
    fields = ["suite", "scorer", "threshold", "preview", "reason", "seen", "earlier_changes"]
    readonly_fields = ["suite", "scorer", "preview", "earlier_changes"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    @admin.display(description="What would change")
    def preview(self, entry: rows.SuiteEntry) -> SafeString:
        url = reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])
        return _preview_link(url)

    @admin.display(description="Earlier changes")
    def earlier_changes(self, entry: rows.SuiteEntry) -> str:
        changes = entry.suite.threshold_changes.filter(scorer=entry.scorer)
        lines = (
            f"{change.changed_at:%Y-%m-%d %H:%M} {change.changed_by or 'the operator'}: "
            f"{change.text}. {change.reason}".strip()
            for change in changes.select_related("changed_by")
        )
        return "\n".join(lines) or "none"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: ARG002
        obj.threshold = form.initial["threshold"]
        obj.change_threshold(
            form.cleaned_data["threshold"], by=actor(request), reason=form.cleaned_data["reason"]
        )


class FailureTagForm(ModelForm[rows.FailureTag]):
    """A name that the team has not, whatever its case, as on the team's own page."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        team, name = cleaned.get("team"), cleaned.get("name")
        others = rows.FailureTag.objects.exclude(pk=self.instance.pk)
        if team and name and others.filter(team=team, name__iexact=name).exists():
            self.add_error("name", "The team has this tag already.")
        return cleaned


@admin.register(rows.FailureTag)
class FailureTagAdmin(AuditedAdmin):
    """Reviews keep the names they were given."""

    form = FailureTagForm
    list_display = ["name", "team", "help_text", "is_severe"]
    list_filter = ["is_severe", "team"]
    search_fields = ["name"]
    list_select_related = ["team"]
    autocomplete_fields = ["team"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:  # noqa: ARG002
        return ["team"] if obj else []


@admin.register(rows.ReviewQueue)
class ReviewQueueAdmin(NotAdded, AuditedAdmin):
    """Its tasks were drawn when it was created; the name and the day it is due may change."""

    fields = ["name", "due_on"]
    list_display = ["name", "run", "order", "case_count", "due_on", "created_by", "closed_at"]
    list_filter = ["team", "order"]
    search_fields = ["name", "run__name", "uuid"]
    list_select_related = ["run", "created_by"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
