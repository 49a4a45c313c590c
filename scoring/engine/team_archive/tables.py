"""What a team's archive holds: the rows of each table, parents before children.

Rows have no ids in an archive. The n-th row of a table has the number n, counted from 0, and other
rows refer to it by that number; people are numbered alike, by their addresses. So the archive of an
imported team is the same as the one it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from django.db import models
from django.db.models import Q, QuerySet

from scoring.models import (
    Adjudication,
    Alert,
    AlertRule,
    AlertWatch,
    Attempt,
    Baseline,
    Case,
    CaseDecision,
    CaseVerdict,
    Comment,
    Connection,
    Correction,
    Dataset,
    DatasetVersion,
    Draft,
    DraftEdit,
    FailureTag,
    Generation,
    JudgeVariance,
    Member,
    ModelCall,
    Output,
    OutputSet,
    OutputSetState,
    Preference,
    QuestionSet,
    Relabel,
    ReleaseDecision,
    RetentionPolicy,
    Review,
    ReviewQueue,
    ReviewTask,
    Run,
    RunScorer,
    RunSummary,
    SavedView,
    Score,
    ScoreHistogram,
    Scorer,
    ScorerStamp,
    ScorerVersion,
    Shard,
    Suite,
    SuiteEntry,
    SuiteProposal,
    Team,
    ThresholdChange,
    ThresholdProposal,
    VersionState,
    Waiver,
)
from scoring.models.search_text import SearchTextField

Model = type[models.Model]

ARE_THERE: Final = Q(deleted_at=None)
ENDED: Final = Q(state__in=["finished", "cancelled"])
WHOLE_SETS: Final = Q(state__in=[OutputSetState.READY, OutputSetState.EMPTIED])


@dataclass(frozen=True)
class Table:
    """The rows of a model that belong to a team, by the path to it and a condition.

    `left_out` are columns that mean nothing on another site, and get their defaults there.
    """

    model: Model
    team: str
    condition: Q = field(default_factory=Q)
    left_out: frozenset[str] = frozenset()

    @cached_property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @cached_property
    def columns(self) -> list[models.Field[Any, Any]]:
        """The archived columns; computed ones and copies for searches are made anew."""
        return [
            column
            for column in self.model._meta.concrete_fields
            if not (column.primary_key or column.generated or isinstance(column, SearchTextField))
            and column.name not in self.left_out
        ]

    def rows(self, team: Team) -> QuerySet[Any]:
        rows = self.model._base_manager.filter(self.condition, **{self.team: team.pk})
        return rows.order_by("pk")


def _left_out(*names: str) -> frozenset[str]:
    return frozenset(names)


_LEASE: Final = _left_out("lease_owner", "lease_expires_at")
_WEBHOOK: Final = _left_out(
    "encrypted_webhook", "webhook_host", "webhook_last_four", "encrypted_secret"
)

TABLES: Final = (
    Table(Team, "pk", left_out=_left_out("slug")),
    Table(Connection, "team", left_out=_left_out("encrypted_key", "last_four")),
    Table(Scorer, "team"),
    Table(ScorerVersion, "scorer__team"),
    Table(Suite, "team"),
    Table(SuiteEntry, "suite__team"),
    Table(ThresholdChange, "scorer__team"),
    Table(SuiteProposal, "suite__team"),
    Table(ThresholdProposal, "team"),
    Table(Dataset, "team", ARE_THERE),
    Table(DatasetVersion, "dataset__team", Q(state=VersionState.READY)),
    Table(Case, "version__dataset__team"),
    Table(Draft, "dataset__team"),
    Table(DraftEdit, "draft__dataset__team"),
    Table(OutputSet, "version__dataset__team", WHOLE_SETS),
    Table(Generation, "output_set__version__dataset__team"),
    Table(Output, "output_set__version__dataset__team"),
    Table(Run, "team", ARE_THERE & ENDED, _LEASE),
    Table(RunScorer, "run__team"),
    Table(Attempt, "run__team"),
    Table(Shard, "attempt__run__team", left_out=_LEASE),
    # its key holds the team's id, so the same question is asked again
    Table(ModelCall, "team", left_out=_left_out("cache_key")),
    Table(Score, "scorer__run__team"),
    Table(CaseVerdict, "run__team"),
    Table(RunSummary, "scorer__run__team"),
    Table(ScoreHistogram, "scorer__run__team"),
    Table(JudgeVariance, "run__team"),
    Table(Relabel, "run__team"),
    Table(Baseline, "dataset__team"),
    Table(ReleaseDecision, "run__team"),
    Table(Waiver, "dataset__team"),
    Table(FailureTag, "team"),
    Table(QuestionSet, "team"),
    Table(ReviewQueue, "team"),
    Table(ReviewQueue.pool.through, "reviewqueue__team"),
    Table(ReviewTask, "queue__team"),
    Table(Review, "output_set__version__dataset__team"),
    Table(Adjudication, "output_set__version__dataset__team"),
    Table(CaseDecision, "candidate__team"),
    Table(Comment, "output__output_set__version__dataset__team"),
    Table(Correction, "dataset__team"),
    Table(Preference, "candidate__output_set__version__dataset__team"),
    Table(SavedView, "team"),
    Table(ScorerStamp, "scorer_version__scorer__team"),
    Table(AlertRule, "team", ARE_THERE, _WEBHOOK),
    Table(Alert, "rule__team"),
    Table(AlertWatch, "rule__team"),
    Table(Member, "team", left_out=_left_out("from_groups")),
    Table(RetentionPolicy, "team", left_out=_left_out("due_at")),
)
ARCHIVED: Final[Mapping[Model, Table]] = {table.model: table for table in TABLES}

#: What stays behind, and why.
NOT_ARCHIVED: Final[Mapping[str, str]] = {
    "attemptcounter": "counts attempts to sign in to this site",
    "auditcheckpoint": "signed by this site; the new one signs its own",
    "auditentry": "archived apart: its hashes are made anew",
    "alertdelivery": "was sent, or is to be sent, from here",
    "comparison": "computed again when it is looked at",
    "driftresult": "computed again when it is looked at",
    "embedding": "of no team; computed again",
    "endpointlimit": "calls that processes of this site have under way",
    "grouprole": "groups are those of this site's single sign-on",
    "idempotencykey": "of requests to this site",
    "invitation": "its link is signed by this site",
    "job": "work of this site's worker",
    "joinlink": "leads to this site",
    "levelsums": "computed again when it is looked at",
    "notice": "told to people here",
    "outgoingmail": "mail of this site",
    "pairindex": "computed again when it is looked at",
    "rundrift": "computed again when it is looked at",
    "runstep": "computed again when it is looked at",
    "tagindex": "computed again after the import",
    "token": "a secret of a program that uses this site",
    "upload": "files of this site's spool",
    "user": "archived apart: only address, name and state",
    "user_groups": "rights on this site",
    "user_user_permissions": "rights on this site",
    "versionchanges": "computed again when it is looked at",
    "versionduplicates": "computed again on request",
    "worker": "processes of this site",
}

#: Of each person that rows name.
PERSON: Final = ("email", "name", "is_active", "is_service")
#: Of each audit entry. `actor` is a person's number; `target_id` is "" for a row that stays behind.
ENTRY: Final = (
    "number",
    "at",
    "actor",
    "actor_name",
    "team_name",
    "action",
    "target_type",
    "target_id",
    "target_name",
    "old",
    "new",
    "address",
)
