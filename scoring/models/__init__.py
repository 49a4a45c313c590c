"""Every row Evalsite keeps, each model beside its queryset."""

from scoring.models.alert import (
    Alert,
    AlertDelivery,
    AlertState,
    Channel,
    DeliveryState,
    Event,
)
from scoring.models.alert_rule import AlertKind, AlertRule
from scoring.models.alert_watch import AlertWatch, WatchState
from scoring.models.audit import AuditEntry
from scoring.models.calls import CallPurpose, Embedding, JudgeNoise, ModelCall
from scoring.models.comment import Comment
from scoring.models.comparison import Baseline, Comparison
from scoring.models.connection import Connection
from scoring.models.dataset import Case, Dataset, DatasetVersion, VersionState
from scoring.models.draft import Draft, DraftEdit, DraftState, EditKind
from scoring.models.drift import RunDrift, RunStep
from scoring.models.errand import Errand, ErrandKind, ErrandState
from scoring.models.generation import Generation
from scoring.models.idempotency import IdempotencyKey
from scoring.models.likeness import Likeness, Likenesses
from scoring.models.notice import Notice
from scoring.models.pair_places import PairPlaces
from scoring.models.review import Review, ReviewVerdict
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
from scoring.models.saved_view import SavedView
from scoring.models.score import CaseVerdict, RunSummary, Score, Status, Verdict
from scoring.models.scorer import Scorer, ScorerVersion, Suite, SuiteEntry, ThresholdChange
from scoring.models.tag_places import TagPlaces
from scoring.models.team import Member, Role, Team, Token, User
from scoring.models.upload import Upload, UploadKind, UploadState, Worker
from scoring.models.version_changes import ChangeKind, Changes, VersionChanges

__all__ = [
    "Alert",
    "AlertDelivery",
    "AlertKind",
    "AlertRule",
    "AlertState",
    "AlertWatch",
    "Attempt",
    "AttemptKind",
    "AuditEntry",
    "Baseline",
    "CallPurpose",
    "Case",
    "CaseVerdict",
    "ChangeKind",
    "Changes",
    "Channel",
    "Comment",
    "Comparison",
    "Connection",
    "Dataset",
    "DatasetVersion",
    "DeliveryState",
    "Draft",
    "DraftEdit",
    "DraftState",
    "EditKind",
    "Embedding",
    "Errand",
    "ErrandKind",
    "ErrandState",
    "Event",
    "Generation",
    "IdempotencyKey",
    "JudgeNoise",
    "Likeness",
    "Likenesses",
    "Member",
    "ModelCall",
    "Notice",
    "Output",
    "OutputSet",
    "OutputSetState",
    "PairPlaces",
    "Review",
    "ReviewVerdict",
    "Role",
    "Run",
    "RunDrift",
    "RunScorer",
    "RunState",
    "RunStep",
    "RunSummary",
    "SavedView",
    "Score",
    "Scorer",
    "ScorerVersion",
    "Shard",
    "Status",
    "Suite",
    "SuiteEntry",
    "TagPlaces",
    "Team",
    "ThresholdChange",
    "Token",
    "Upload",
    "UploadKind",
    "UploadState",
    "User",
    "Verdict",
    "VersionChanges",
    "VersionState",
    "WatchState",
    "Worker",
]
