"""What people say of runs: to look at; pages write it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


@admin.register(rows.Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = ["reviewer", "output", "verdict", "created_at", "changed_at"]
    list_filter = ["verdict"]
    search_fields = ["reviewer__email", "note", "output__case__key"]
    list_select_related = ["reviewer", "output__case"]


@admin.register(rows.Comment)
class CommentAdmin(ReadOnlyAdmin):
    """Deleted ones too, which pages show no more."""

    list_display = ["author", "output", "text_opening", "created_at", "edited_at", "deleted_at"]
    search_fields = ["author__email", "text", "output__case__key"]
    list_select_related = ["author", "output__case"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:  # noqa: ARG002
        return rows.Comment.with_deleted.order_by("-pk")

    @admin.display(description="text")
    def text_opening(self, comment: rows.Comment) -> str:
        return comment.text[:100]


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
