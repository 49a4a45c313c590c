"""Every row Evalsite keeps, each model beside its queryset."""

from scoring.models.audit import AuditEntry
from scoring.models.dataset import Case, Dataset, DatasetVersion, VersionState
from scoring.models.idempotency import IdempotencyKey
from scoring.models.run import (
    Attempt,
    AttemptKind,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    Shard,
)
from scoring.models.score import CaseVerdict, RunSummary, Score, Status, Verdict
from scoring.models.scorer import Scorer, ScorerVersion, Suite, SuiteEntry, ThresholdChange
from scoring.models.team import Member, Role, Team, Token, User
from scoring.models.upload import Upload, UploadKind, UploadState, Worker

__all__ = [
    "Attempt",
    "AttemptKind",
    "AuditEntry",
    "Case",
    "CaseVerdict",
    "Dataset",
    "DatasetVersion",
    "IdempotencyKey",
    "Member",
    "Output",
    "OutputSet",
    "OutputSetState",
    "Role",
    "Run",
    "RunScorer",
    "RunState",
    "RunSummary",
    "Score",
    "Scorer",
    "ScorerVersion",
    "Shard",
    "Status",
    "Suite",
    "SuiteEntry",
    "Team",
    "ThresholdChange",
    "Token",
    "Upload",
    "UploadKind",
    "UploadState",
    "User",
    "Verdict",
    "VersionState",
    "Worker",
]
