"""What people say of runs: to look at; pages write it."""

from __future__ import annotations

from django.contrib import admin

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


@admin.register(rows.Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = ["reviewer", "output", "verdict", "created_at", "changed_at"]
    list_filter = ["verdict"]
    search_fields = ["reviewer__email", "note", "output__case__key"]
    list_select_related = ["reviewer", "output__case"]


@admin.register(rows.Notice)
class NoticeAdmin(ReadOnlyAdmin):
    list_display = ["user", "text", "created_at", "read_at"]
    search_fields = ["user__email", "text"]
    list_select_related = ["user"]


@admin.register(rows.SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    list_display = ["name", "team", "owner", "query", "created_at"]
    list_filter = ["team"]
    search_fields = ["name", "owner__email"]
    list_select_related = ["team", "owner"]
