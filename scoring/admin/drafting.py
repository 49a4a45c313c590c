"""Drafts and what versions tell apart, to look at and to search."""

from __future__ import annotations

from django.contrib import admin

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


@admin.register(rows.Draft)
class DraftAdmin(ReadOnlyAdmin):
    list_display = ["dataset", "based_on", "state", "message", "created_by", "created_at"]
    list_filter = ["state"]
    search_fields = ["dataset__name", "message", "uuid"]
    list_select_related = ["dataset", "based_on__dataset", "created_by"]


@admin.register(rows.DraftEdit)
class DraftEditAdmin(ReadOnlyAdmin):
    list_display = ["key", "kind", "draft", "edited_by", "edited_at"]
    list_filter = ["kind", "is_conflict"]
    search_fields = ["key", "draft__dataset__name"]
    list_select_related = ["draft__dataset", "edited_by"]


@admin.register(rows.VersionChanges)
class VersionChangesAdmin(ReadOnlyAdmin):
    list_display = ["old", "new", "added", "removed", "edited"]
    search_fields = ["new__dataset__name"]
    list_select_related = ["old__dataset", "new__dataset"]
