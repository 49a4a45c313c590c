"""What every admin here shares: changes are audited, what the engine wrote is only read."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.db import models, transaction
from django.http import HttpRequest

from scoring import models as rows


def _plain(value: Any) -> Any:
    """A form's value as the audit keeps it: rows by their text, the rest as text too."""
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def actor(request: HttpRequest) -> rows.User:
    return cast("rows.User", request.user)  # the admin lets nobody else in


class AuditedAdmin(admin.ModelAdmin[Any]):
    """Records every addition, change and deletion, with old and new values."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        changed = [name for name in form.changed_data if "password" not in name]
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            rows.AuditEntry.objects.record(
                self.team_of(obj),
                actor(request),
                f"{self.opts.model_name}.{'changed' if change else 'created'}",
                obj,
                old={name: _plain(form.initial.get(name)) for name in changed} if change else {},
                new={name: _plain(form.cleaned_data[name]) for name in changed},
            )

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with transaction.atomic():
            rows.AuditEntry.objects.record(
                self.team_of(obj), actor(request), f"{self.opts.model_name}.deleted", obj
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
