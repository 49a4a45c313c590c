"""What every admin here shares: changes are audited, what the engine wrote is only read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, cast

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.db import connection, models, transaction
from django.http import HttpRequest

from scoring import models as rows
from scoring.models.locks import lock_row

_SECRET: Final = frozenset({"password", "digest"})


def _plain(value: Any) -> Any:
    """A form's value as the audit keeps it: rows by their text, the rest as text too."""
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def actor(request: HttpRequest) -> rows.User:
    return cast("rows.User", request.user)  # the admin lets nobody else in


class FoldedSearch(admin.ModelAdmin[Any]):
    """Searches as the site does: the case of ASCII letters does not count, on any database."""

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return [self._folded(name) for name in super().get_search_fields(request)]

    def _folded(self, name: str) -> str:
        field = get_fields_from_path(self.model, name)[-1]
        is_text = isinstance(field, models.CharField | models.TextField)
        return f"{name}__holds" if is_text else name


class AuditedAdmin(FoldedSearch):
    """Records every addition, change and deletion, with old and new values."""

    deleted_along: ClassVar[Sequence[type[models.Model]]] = ()

    def get_object(self, request: HttpRequest, *args: Any) -> Any:
        """Locked where it is about to change, so that the old values are those it replaces."""
        obj = super().get_object(request, *args)
        if obj is not None and request.method == "POST" and connection.in_atomic_block:
            lock_row(obj)
        return obj

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        changed = [name for name in form.changed_data if "password" not in name]
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            old = {name: _plain(form.initial.get(name)) for name in changed} if change else {}
            new = {name: _plain(form.cleaned_data[name]) for name in changed}
            self._record(request, "changed" if change else "created", obj, old=old, new=new)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """With an entry for each row that goes along and has one of its own otherwise."""
        with transaction.atomic():
            for row in (*self.rows_deleted_with(obj), obj):
                self._record(request, "deleted", row, old=_values(row))
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Rows of `deleted_along` do not keep it, though they may not be deleted by themselves."""
        shown, counts, refused, protected = super().get_deleted_objects(objs, request)
        along = {str(model._meta.verbose_name) for model in self.deleted_along}
        return shown, counts, refused - along, protected

    def rows_deleted_with(self, obj: Any) -> Iterable[models.Model]:  # noqa: ARG002
        """Rows that people made, which the database deletes with this one."""
        return ()

    def _record(self, request: HttpRequest, verb: str, obj: Any, **values: Any) -> None:
        action = f"{obj._meta.model_name}.{verb}"
        rows.AuditEntry.objects.record(team_of(obj), actor(request), action, obj, **values)


def team_of(obj: Any) -> rows.Team | None:
    """The team an object belongs to, a team to itself; None for people."""
    team = obj if isinstance(obj, rows.Team) else getattr(obj, "team", None)
    return team if isinstance(team, rows.Team) else None


def _values(obj: Any) -> dict[str, Any]:
    """What a person set of a row, as its admin shows it; no secret and no bookkeeping."""
    fields = [field for field in obj._meta.concrete_fields if field.editable]
    names = [f.name for f in fields if not f.primary_key and f.name not in _SECRET]
    return {name: _shown(obj, name, getattr(obj, name)) for name in names}


def _shown(obj: Any, name: str, value: Any) -> Any:
    """A value as the audit keeps it: rows and choices by their text."""
    field = obj._meta.get_field(name)
    if field.is_relation and isinstance(value, int):
        value = field.related_model._base_manager.filter(pk=value).first()
    if field.choices:
        return dict(field.flatchoices).get(value, value)
    return _plain(value)


class NotAdded:
    """Mixin: rows that are made elsewhere."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class ReadOnlyAdmin(NotAdded, FoldedSearch):
    """Rows that only the site itself writes."""

    show_full_result_count = False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False
