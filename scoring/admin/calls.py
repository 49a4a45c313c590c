"""Connections and what went through them: to look at; a key is never shown."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin, actor


@admin.register(rows.Connection)
class ConnectionAdmin(ReadOnlyAdmin):
    """Made and changed on the team's own pages, where the key is typed; here it can be removed."""

    list_display = ["name", "team", "base_url", "key_shown", "is_default", "concurrency"]
    list_filter = ["team", "is_default"]
    search_fields = ["name", "base_url", "team__name"]
    list_select_related = ["team"]
    fields = [
        "name",
        "team",
        "base_url",
        "key_shown",
        "offered",
        "timeout_seconds",
        "concurrency",
        "is_default",
        "uuid",
        "created_by",
        "created_at",
    ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def delete_model(self, request: HttpRequest, obj: rows.Connection) -> None:
        obj.remove(by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        for connection in queryset:
            self.delete_model(request, connection)


@admin.register(rows.ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    list_display = [
        "model",
        "team",
        "purpose",
        "connection_name",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "latency_ms",
        "fault",
        "created_at",
    ]
    list_filter = ["purpose", "team"]
    search_fields = ["model", "connection_name", "cache_key", "fault"]
    list_select_related = ["team"]


@admin.register(rows.Errand)
class ErrandAdmin(ReadOnlyAdmin):
    list_display = ["kind", "team", "state", "asked_by", "problem", "created_at"]
    list_filter = ["kind", "state", "team"]
    search_fields = ["uuid", "problem", "asked_by__email"]
    list_select_related = ["team", "asked_by"]


@admin.register(rows.Embedding)
class EmbeddingAdmin(ReadOnlyAdmin):
    list_display = ["cache_key", "is_cut", "created_at"]
    search_fields = ["cache_key"]
    fields = ["cache_key", "is_cut", "created_at"]


@admin.register(rows.JudgeNoise)
class JudgeNoiseAdmin(ReadOnlyAdmin):
    list_display = ["run", "version", "n", "errors", "mean_difference", "band", "flips"]
    search_fields = ["run__name", "version__scorer__name"]
    list_select_related = ["run__output_set__version__dataset", "version__scorer"]


@admin.register(rows.Generation)
class GenerationAdmin(ReadOnlyAdmin):
    list_display = ["output_set", "model", "connection_name", "trials", "created_at"]
    search_fields = ["model", "connection_name", "template"]
    list_select_related = ["output_set__version__dataset"]
