"""Rows that only the site itself writes: to look at and to search."""

from __future__ import annotations

from django.contrib import admin

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


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
        "dataset",
        "team",
        "state",
        "pass_count",
        "fail_count",
        "error_count",
        "created_at",
    ]
    list_filter = ["state", "team"]
    search_fields = ["name", "uuid", "output_set__version__dataset__name"]
    list_select_related = ["team", "output_set__version__dataset"]

    @admin.display(ordering="output_set__version__dataset__name")
    def dataset(self, run: rows.Run) -> str:
        return run.output_set.version.dataset.name


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


@admin.register(rows.Likenesses)
class LikenessesAdmin(ReadOnlyAdmin):
    list_display = ["version"]
    search_fields = ["version__dataset__name"]
    list_select_related = ["version__dataset"]


@admin.register(rows.TagPlaces)
class TagPlacesAdmin(ReadOnlyAdmin):
    list_display = ["tag", "version"]
    search_fields = ["tag", "version__dataset__name"]
    list_select_related = ["version__dataset"]


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


@admin.register(rows.IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin):
    list_display = ["key", "path", "team", "user", "status", "claimed_at"]
    search_fields = ["key", "path", "user__email"]
    list_select_related = ["team", "user"]
