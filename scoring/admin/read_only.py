"""Rows that the site itself writes, or its pages: to look at and to search, and not to change.

Secrets and the URLs of webhooks are not shown.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin, actor

_register = partial(admin.site.register, admin_class=ReadOnlyAdmin)

_register(
    rows.AuditEntry,
    list_display=["at", "actor_name", "action", "target_type", "target_name", "team_name"],
    list_filter=["action", "team_name"],
    search_fields=["target_name", "target_id", "actor_name", "team_id"],
    date_hierarchy="at",
)
_register(
    rows.AuditCheckpoint,
    list_display=["at", "team_id", "number", "hash"],
    search_fields=["team_id", "hash"],
)
_register(
    rows.GroupRole,
    list_display=["group", "team", "role"],
    list_filter=["role", "team"],
    search_fields=["group"],
    list_select_related=["team"],
)
_register(
    rows.RetentionPolicy,
    list_display=["team", *rows.RetentionPolicy.RULES, "due_at"],
    search_fields=["team__name"],
    list_select_related=["team"],
)
_register(
    rows.OutputSet,
    list_display=["__str__", "version", "series", "dated", "state", "output_count"],
    list_filter=["state", "series"],
    search_fields=["name", "series", "uuid"],
    list_select_related=["version__dataset"],
)
_register(
    rows.DatasetVersion,
    list_display=["dataset", "number", "state", "case_count", "source_name", "published_at"],
    list_filter=["state"],
    search_fields=["dataset__name", "uuid", "content_hash"],
    list_select_related=["dataset"],
)
_register(
    rows.VersionDuplicates,
    list_display=["version"],
    search_fields=["version__dataset__name"],
    list_select_related=["version__dataset"],
)
_register(
    rows.TagIndex,
    list_display=["tag", "version"],
    search_fields=["tag", "version__dataset__name"],
    list_select_related=["version__dataset"],
)
_register(
    rows.Upload,
    list_display=[
        "file_name",
        "team",
        "kind",
        "state",
        "row_count",
        "problem_count",
        "created_at",
    ],
    list_filter=["state", "kind", "team"],
    search_fields=["file_name", "dataset_name"],
    list_select_related=["team"],
)
_register(
    rows.Case,
    list_display=["key", "version", "position"],
    search_fields=["key"],
    list_select_related=["version__dataset"],
)
_register(
    rows.Output,
    list_display=["case", "output_set", "trial", "error"],
    search_fields=["case__key"],
    list_select_related=["case", "output_set"],
)
_register(
    rows.Score,
    list_display=["scorer", "output", "status", "score", "verdict", "code"],
    list_filter=["status", "verdict"],
    search_fields=["code", "reason"],
    list_select_related=["scorer", "output__case"],
)
_register(
    rows.ScorerVersion,
    list_display=["scorer", "number", "type", "created_by", "created_at"],
    list_filter=["type"],
    search_fields=["scorer__name", "fingerprint"],
    list_select_related=["scorer", "created_by"],
)
_register(
    rows.RunScorer,
    list_display=["name", "run", "version", "threshold"],
    search_fields=["name", "run__name"],
    list_select_related=["run", "version__scorer"],
)
_register(
    rows.RunSummary,
    list_display=["scorer", "n", "scored", "errors", "skipped", "passed", "mean"],
    search_fields=["scorer__name", "scorer__run__name"],
    list_select_related=["scorer"],
)
_register(
    rows.ScoreHistogram,
    list_display=["scorer"],
    search_fields=["scorer__name", "scorer__run__name"],
    list_select_related=["scorer"],
)
_register(
    rows.CaseVerdict,
    list_display=["run", "position", "trial", "verdict"],
    list_filter=["verdict"],
    search_fields=["run__name"],
    list_select_related=["run"],
)
_register(
    rows.Attempt,
    list_display=["run", "number", "kind", "started_by", "created_at", "finished_at"],
    list_filter=["kind"],
    search_fields=["run__name"],
    list_select_related=["run", "started_by"],
)
_register(
    rows.Shard,
    list_display=["attempt", "number", "output_count", "try_count", "done_at"],
    search_fields=["attempt__run__name"],
    list_select_related=["attempt__run"],
)
_register(
    rows.ThresholdChange,
    list_display=["suite", "scorer", "old", "new", "reason", "changed_by", "changed_at"],
    search_fields=["suite__name", "scorer__name", "reason"],
    list_select_related=["suite", "scorer", "changed_by"],
)
_register(
    rows.Relabel,
    list_display=["run", "text", "created_by", "created_at"],
    search_fields=["run__name", "uuid"],
    list_select_related=["run", "created_by"],
)
_register(
    rows.SuiteProposal,
    list_display=["suite", "source_name", "state", "proposed_by", "created_at", "decided_by"],
    list_filter=["state"],
    search_fields=["suite__name", "source_name", "uuid"],
    list_select_related=["suite", "proposed_by", "decided_by"],
)
_register(
    rows.ThresholdProposal,
    list_display=["suite", "thresholds", "state", "proposed_by", "created_at", "decided_by"],
    list_filter=["state"],
    search_fields=["suite__name", "rationale", "uuid"],
    list_select_related=["suite", "proposed_by", "decided_by"],
)
_register(
    rows.Worker,
    list_display=["name", "started_at", "seen_at"],
    search_fields=["name"],
)
_register(
    rows.EndpointLimit,
    list_display=["key", "used_at", "opens_at"],
    search_fields=["key"],
)
_register(
    rows.OutgoingMail,
    list_display=["address", "created_at", "try_count", "next_try_at", "error"],
    search_fields=["address", "error"],
)
_register(
    rows.Invitation,
    list_display=["email", "team", "role", "created_by", "expires_at", "accepted_at", "revoked_at"],
    list_filter=["role", "team"],
    search_fields=["email", "uuid"],
    list_select_related=["team", "created_by"],
)
_register(
    rows.JoinLink,
    list_display=["team", "domain", "role", "created_at"],
    search_fields=["domain", "team__name"],
    list_select_related=["team"],
)
_register(
    rows.IdempotencyKey,
    list_display=["key", "path", "team", "user", "status", "claimed_at"],
    search_fields=["key", "path", "user__email"],
    list_select_related=["team", "user"],
)
_register(
    rows.Draft,
    list_display=["dataset", "based_on", "state", "message", "created_by", "created_at"],
    list_filter=["state"],
    search_fields=["dataset__name", "message", "uuid"],
    list_select_related=["dataset", "based_on__dataset", "created_by"],
)
_register(
    rows.DraftEdit,
    list_display=["key", "kind", "draft", "edited_by", "edited_at"],
    list_filter=["kind", "is_conflict"],
    search_fields=["key", "draft__dataset__name"],
    list_select_related=["draft__dataset", "edited_by"],
)
_register(
    rows.VersionChanges,
    list_display=["old", "new", "added", "removed", "edited"],
    search_fields=["new__dataset__name"],
    list_select_related=["old__dataset", "new__dataset"],
)
_register(
    rows.Review,
    list_display=["reviewer_label", "output", "verdict", "created_at", "changed_at"],
    list_filter=["verdict", "is_imported"],
    search_fields=["reviewer__email", "reviewer_name", "note", "output__case__key"],
    list_select_related=["reviewer", "output__case"],
)
_register(
    rows.Waiver,
    list_display=["case_key", "scorer", "dataset", "until", "owner", "created_by", "ended_at"],
    search_fields=["case_key", "scorer__name", "dataset__name", "reason", "uuid"],
    list_select_related=["scorer", "dataset", "owner", "created_by"],
)
_register(
    rows.ReleaseDecision,
    list_display=["run", "state", "decided_by", "created_at", "withdrawn_at"],
    list_filter=["state"],
    search_fields=["run__name", "reason", "uuid"],
    list_select_related=["run", "decided_by"],
)
_register(
    rows.CaseDecision,
    list_display=["candidate", "baseline", "output", "state", "decided_by", "created_at"],
    list_filter=["state"],
    search_fields=["candidate__name", "output__case__key", "reason"],
    list_select_related=["candidate", "baseline", "output__case", "decided_by"],
)
_register(
    rows.ScorerStamp,
    list_display=["scorer_version", "dataset_version", "fitness", "stamped_by", "created_at"],
    list_filter=["fitness"],
    search_fields=["scorer_version__scorer__name"],
    list_select_related=["scorer_version", "dataset_version", "stamped_by"],
)
_register(
    rows.QuestionSet,
    list_display=["label", "team", "created_by", "created_at", "removed_at"],
    list_filter=["team"],
    search_fields=["name"],
    list_select_related=["team", "created_by"],
)
_register(
    rows.ReviewTask,
    list_display=["queue", "position", "reviewer", "reason", "skipped_at", "done_at"],
    list_filter=["reason"],
    search_fields=["queue__name", "reviewer__email"],
    list_select_related=["queue", "reviewer"],
)
_register(
    rows.Adjudication,
    list_display=["output", "verdict", "decided_by", "changed_at"],
    list_filter=["verdict"],
    search_fields=["output__case__key", "decided_by__email", "note"],
    list_select_related=["output__case", "decided_by"],
)
_register(
    rows.Correction,
    list_display=["key", "dataset", "state", "author", "decided_by", "created_at"],
    list_filter=["state"],
    search_fields=["key", "dataset__name", "author__email", "note"],
    list_select_related=["dataset", "author", "decided_by"],
)
_register(
    rows.Preference,
    list_display=["reviewer", "candidate", "baseline", "verdict", "changed_at"],
    list_filter=["verdict"],
    search_fields=["reviewer__email", "note"],
    list_select_related=["reviewer", "candidate__case", "baseline__case"],
)
_register(
    rows.Notice,
    list_display=["user", "text", "created_at", "read_at"],
    search_fields=["user__email", "text"],
    list_select_related=["user"],
)
_register(
    rows.SavedView,
    list_display=["name", "team", "owner", "query", "created_at"],
    list_filter=["team"],
    search_fields=["name", "owner__email"],
    list_select_related=["team", "owner"],
)
_register(
    rows.Baseline,
    list_display=["dataset", "series", "run", "pinned_by", "pinned_at"],
    search_fields=["dataset__name", "series", "run__name"],
    list_select_related=["dataset", "run", "pinned_by"],
)
_register(
    rows.Comparison,
    list_display=["baseline", "candidate", "computed_at"],
    search_fields=["baseline__name", "candidate__name"],
    list_select_related=["baseline", "candidate"],
)
_register(
    rows.PairIndex,
    list_display=["comparison", "kind", "scorer", "total"],
    list_filter=["kind"],
    list_select_related=["comparison__baseline", "comparison__candidate"],
)
_register(
    rows.RunStep,
    list_display=["before", "after", "pairs", "fixed", "broke"],
    search_fields=["before__name", "after__name"],
    list_select_related=["before", "after"],
)
_register(
    rows.RunDrift,
    list_display=["run", "reference", "similarity", "compared", "distinct", "sampled"],
    search_fields=["run__name"],
    list_select_related=["run", "reference"],
)
_register(
    rows.DriftResult,
    list_display=["scorer", "outcome", "p_corrected", "detectable"],
    search_fields=["scorer__name", "scorer__run__name"],
    list_select_related=["scorer__run"],
)
_register(
    rows.LevelSums,
    list_display=["dataset", "series", "scorer"],
    search_fields=["series", "scorer"],
    list_select_related=["dataset"],
    exclude=["data"],
)
_register(
    rows.AlertRule,
    list_display=["condition", "dataset", "series", "team", "webhook_shown", "paused_at"],
    list_filter=["kind", "team"],
    search_fields=["dataset__name", "series", "scorer"],
    list_select_related=["dataset", "team"],
    exclude=["encrypted_webhook", "webhook_host", "webhook_last_four", "encrypted_secret"],
    readonly_fields=["webhook_shown"],
)
_register(
    rows.AlertWatch,
    list_display=["rule", "series", "state", "run", "seen_at", "evaluate_at"],
    list_filter=["state"],
    search_fields=["rule__dataset__name", "series", "sentence"],
    list_select_related=["rule__dataset", "run"],
)
_register(
    rows.Alert,
    list_display=["sentence", "rule", "series", "state", "opened_at", "resolved_at"],
    list_filter=["state", "rule__team"],
    search_fields=["sentence", "series", "rule__dataset__name"],
    list_select_related=["rule__dataset"],
)
_register(
    rows.AlertDelivery,
    list_display=["event", "channel", "target_shown", "state", "try_count", "error", "happened_at"],
    list_filter=["state", "channel"],
    search_fields=["rule__dataset__name", "error"],
    list_select_related=["rule__dataset"],
    exclude=["target"],
    readonly_fields=["target_shown"],
)
_register(
    rows.ModelCall,
    list_display=[
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
    ],
    list_filter=["purpose", "team"],
    search_fields=["model", "connection_name", "cache_key", "fault"],
    list_select_related=["team"],
)
_register(
    rows.Job,
    list_display=["kind", "team", "state", "requested_by", "problem", "created_at"],
    list_filter=["kind", "state", "team"],
    search_fields=["uuid", "problem", "requested_by__email"],
    list_select_related=["team", "requested_by"],
)
_register(
    rows.Embedding,
    list_display=["cache_key", "is_cut", "created_at"],
    search_fields=["cache_key"],
    fields=["cache_key", "is_cut", "created_at"],
)
_register(
    rows.JudgeVariance,
    list_display=["run", "version", "n", "errors", "mean_difference", "band", "flips"],
    search_fields=["run__name", "version__scorer__name"],
    list_select_related=["run__output_set__version__dataset", "version__scorer"],
)
_register(
    rows.Generation,
    list_display=["output_set", "model", "connection_name", "trials", "created_at"],
    search_fields=["model", "connection_name", "template"],
    list_select_related=["output_set__version__dataset"],
)


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


@admin.register(rows.AttemptCounter)
class AttemptCounterAdmin(ReadOnlyAdmin):
    """Keys are hashes: who tried to sign in, and from where, is not kept."""

    list_display = ["key", "count", "expires_at"]
    search_fields = ["key"]


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

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for connection in queryset:
            self.delete_model(request, connection)
